import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";

import { datasource } from "./queries.ts";

export interface DashboardFrame {
  /** Fixed: links and bookmarks name it. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** How far back it looks at first, as `now-24h`. */
  readonly from: string;
}

/** A dashboard without panels: where its data come from, and its links to the others. */
export function dashboard({ uid, title, description, from }: DashboardFrame): DashboardBuilder {
  const links = new DashboardLinkBuilder("flatline")
    .type(DashboardLinkType.Dashboards)
    .tags(["flatline"])
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true);
  const toPage = new DashboardLinkBuilder("Page of flatline")
    .type(DashboardLinkType.Link)
    .url("${page}")
    .icon("external link")
    .targetBlank(true);
  // What people note on a graph by hand; Grafana adds it by itself when it is missing, and then calls the file changed.
  const ofGrafana = new AnnotationQueryBuilder()
    .name("Annotations & Alerts")
    .datasource({ type: "grafana", uid: "-- Grafana --" })
    .type("dashboard")
    .builtIn(1)
    .enable(true)
    .hide(true)
    .iconColor("rgba(0, 211, 255, 1)");
  return new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(["flatline"])
    .time({ from, to: "now" })
    .timezone("browser")
    .refresh("30s")
    .tooltip(DashboardCursorSync.Crosshair)
    .link(links)
    .link(toPage)
    .annotation(ofGrafana)
    .withVariable(new DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus"))
    .withVariable(labelVariable("job", "label_values(flatline_build_info, job)").label("Job").includeAll(true))
    .withVariable(
      new TextBoxVariableBuilder("page")
        .label("Page of flatline")
        .description("Where people reach flatline's own page: alerting.externalUrl of its configuration.")
        .defaultValue("http://localhost:9640"),
    );
}

/** Links to the page of an organization whose slug is this variable of Grafana. */
export function linkToPage(slug: string): DashboardLinkOfData {
  return {
    title: "Open on the page of flatline",
    url: `\${page}/o/\${${slug}:percentencode}`,
    targetBlank: true,
  };
}

interface DashboardLinkOfData {
  readonly title: string;
  readonly url: string;
  readonly targetBlank: boolean;
}

/**
 * A variable with the values of a label; several may be chosen. Only for a variable that may have several does Grafana
 * escape its value as a regular expression, which slugs with a dot need.
 */
export function labelVariable(name: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .datasource(datasource)
    .query({ query, refId: `${name}-variable` })
    .multi(true)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
}
