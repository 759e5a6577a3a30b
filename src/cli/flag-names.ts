import type { FieldNames } from "../contract/issues.ts";

/** Calls the fields of the API as the command line does: `assetId` is `--asset-id`. */
export const flagNames: FieldNames = {
  nameOf: (field) => (field === "proposalId" ? "ID" : flagOf(field)),
  listedIn: "--help",
};

function flagOf(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
