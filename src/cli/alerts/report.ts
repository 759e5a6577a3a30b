import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { askDaemon, daemonConfigFlag, daemonTokenFlag, daemonUrlFlag, type DaemonFlags } from "../daemon-flags.ts";
import { withAlertId } from "./acts.ts";

/** `flatline alerts report ID` */
export function addReport(parent: Command, context: CliContext): void {
  parent
    .command("report")
    .description("print an alert as Markdown, for pasting into an incident channel or ticket")
    .argument("<id>", "id of an alert that lives or has ended, or its first digits")
    .addOption(daemonConfigFlag())
    .addOption(daemonUrlFlag())
    .addOption(daemonTokenFlag())
    .addHelpText("after", "\nExample:\n  flatline alerts report 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e > incident.md\n")
    .action(async (id: string, flags: DaemonFlags) => {
      const text = await askDaemon(flags, context, (daemon) =>
        withAlertId(daemon, id, (found) => daemon.readText(`/api/v1/alerts/${encodeURIComponent(found)}/report`)),
      );
      context.stdout.write(text);
    });
}
