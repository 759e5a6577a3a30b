import type { Command } from "commander";
import { withDaemon } from "../../commands/daemon-client.ts";
import { loadCommandConfig } from "../command-config.ts";
import type { CliContext } from "../context.ts";
import { withAlertId } from "./acts.ts";

interface ReportFlags {
  readonly config?: string;
  readonly url?: string;
}

/** `flatline alerts report ID` */
export function addReport(parent: Command, context: CliContext): void {
  parent
    .command("report")
    .description("print an alert as Markdown, for pasting into an incident channel or ticket")
    .argument("<id>", "id of an alert that lives or has ended, or its first digits")
    .option("-c, --config <file>", "configuration file, for server.listen and server.token")
    .option("--url <url>", "address of the daemon, in place of server.listen")
    .addHelpText("after", "\nExample:\n  flatline alerts report 0199b1c0-3e9a-7c53-8a51-0b7e3f1c2d4e > incident.md\n")
    .action(async (id: string, flags: ReportFlags) => {
      const config = await loadCommandConfig(flags.config, context);
      const text = await withDaemon(config, { ...context, url: flags.url ?? null }, (daemon) =>
        withAlertId(daemon, id, (found) => daemon.readText(`/api/v1/alerts/${encodeURIComponent(found)}/report`)),
      );
      context.stdout.write(text);
    });
}
