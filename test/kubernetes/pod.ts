import { chmod, chown, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { at, type Manifest } from "./helm.ts";

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string; readonly defaultMode: number };
}

interface Container {
  readonly args: readonly string[];
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly securityContext: object;
}

/**
 * Writes the volumes of a Deployment's pod below `place` and returns the arguments with which podman runs its container, as
 * the kubelet would: the users and groups of the security contexts, a read-only root, and no volume but those that it mounts.
 * Needs root.
 */
export async function podmanArguments(manifests: readonly Manifest[], place: string): Promise<string[]> {
  const pod = at(
    manifests.find(({ kind }) => kind === "Deployment"),
    "spec/template/spec",
  );
  const container = at(pod, "containers/0") as Container;
  const fsGroup = at(pod, "securityContext/fsGroup") as number;
  for (const volume of at(pod, "volumes") as readonly Volume[])
    await writeVolume(volume, manifests, join(place, volume.name), fsGroup);
  const { securityContext: own } = container;
  const user = `${String(at(pod, "securityContext/runAsUser"))}:${String(at(pod, "securityContext/runAsGroup"))}`;
  return [
    `--user=${user}`,
    `--group-add=${fsGroup}`,
    ...(at(own, "readOnlyRootFilesystem") === true ? ["--read-only"] : []),
    ...(at(own, "allowPrivilegeEscalation") === false ? ["--security-opt=no-new-privileges"] : []),
    ...((at(own, "capabilities/drop") as readonly string[] | undefined) ?? []).map((name) => `--cap-drop=${name}`),
    ...(container.env ?? []).map(({ name, value }) => `--env=${name}=${value}`),
    ...container.volumeMounts.map(
      ({ name, mountPath, readOnly = false }) => `--volume=${join(place, name)}:${mountPath}${readOnly ? ":ro" : ""}`,
    ),
    container.image,
    ...container.args,
  ];
}

async function writeVolume(
  { configMap, secret }: Volume,
  manifests: readonly Manifest[],
  path: string,
  fsGroup: number,
): Promise<void> {
  await mkdir(path);
  if (configMap !== undefined) {
    const source = manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === configMap.name);
    await writeFiles(path, source?.["data"] as Readonly<Record<string, string>>, 0o644, fsGroup);
  } else if (secret !== undefined) {
    const source = manifests.find(({ kind, metadata }) => kind === "Secret" && metadata.name === secret.secretName);
    await writeFiles(path, source?.["stringData"] as Readonly<Record<string, string>>, secret.defaultMode, fsGroup);
  } else {
    // Root's; the group may write.
    await chown(path, 0, fsGroup);
    await chmod(path, 0o2770);
  }
}

/** Writes files as the kubelet does: links into a folder that a change replaces in one step. */
export async function writeFiles(
  path: string,
  files: Readonly<Record<string, string>>,
  mode: number,
  fsGroup: number,
): Promise<void> {
  const version = await mkdtemp(join(path, "..version-"));
  await chmod(version, 0o755);
  for (const [name, text] of Object.entries(files)) {
    const file = join(version, name);
    await writeFile(file, text);
    await chown(file, 0, fsGroup);
    await chmod(file, mode);
    await rm(join(path, name), { force: true });
    await symlink(join("..data", name), join(path, name));
  }
  await symlink(basename(version), join(path, "..data_tmp"));
  await rename(join(path, "..data_tmp"), join(path, "..data"));
}
