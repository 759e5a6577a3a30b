/** A dashboard as Grafana reads it: what of it asks Prometheus for something. */
export interface DashboardModel {
  readonly uid: string;
  readonly panels: readonly PanelModel[];
  readonly templating: { readonly list: readonly VariableModel[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr?: string }[] };
}

interface PanelModel {
  readonly title?: string;
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly instant?: boolean }[];
}

interface VariableModel {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

export interface DashboardQuery {
  /** Which panel or annotation asks, for messages. */
  readonly where: string;
  readonly kind: "panel" | "annotation";
  readonly expr: string;
  readonly isInstant: boolean;
}

/** Every expression of a dashboard, its variables as they stand. */
export function queriesOf({ uid, panels, annotations }: DashboardModel): DashboardQuery[] {
  const ofPanels = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr, instant }): DashboardQuery => ({
      where: `${uid}: ${title} (${refId})`,
      kind: "panel",
      expr,
      isInstant: instant === true,
    })),
  );
  const ofAnnotations = annotations.list.flatMap(({ name, expr }): DashboardQuery[] =>
    expr === undefined ? [] : [{ where: `${uid}: annotation ${name}`, kind: "annotation", expr, isInstant: false }],
  );
  return [...ofPanels, ...ofAnnotations];
}

/** The text with these values in place of its variables. Throws when one is left. */
export function withVariables(text: string, values: Readonly<Record<string, string>>): string {
  const filled = text.replaceAll(/\$\{?(\w+)(?::\w+)?\}?/g, (whole, name: string) => values[name] ?? whole);
  if (/\$\{?[a-z_]/i.test(filled)) throw new Error(`a variable that nobody sets: ${filled}`);
  return filled;
}

/** What `label_values(SERIES, LABEL)` asks for. */
export function labelQuery({ name, query }: VariableModel): { readonly match: string; readonly label: string } {
  const text = typeof query === "string" ? query : query.query;
  const [, match, label] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
  if (match === undefined || label === undefined) throw new Error(`variable ${name} asks something else: ${text}`);
  return { match, label };
}
