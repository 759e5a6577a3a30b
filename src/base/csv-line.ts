/** Returns one line of CSV, as RFC 4180 has it but for its end, which is that of a line of text. */
export function csvLine(cells: readonly string[]): string {
  const texts = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${texts.join(",")}\n`;
}
