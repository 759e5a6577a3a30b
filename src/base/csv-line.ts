/** Returns one line of CSV (RFC 4180), which ends with LF. */
export function csvLine(cells: readonly string[]): string {
  const texts = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${texts.join(",")}\n`;
}
