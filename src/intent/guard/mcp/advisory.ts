import { compareVersions } from "./version.js";

/** A package that is about to run. */
export interface PackageReference {
  readonly ecosystem: "npm" | "PyPI";
  readonly name: string;
  /** Set only for one exact release. */
  readonly version?: string;
}

/** An advisory on a package. */
export interface Advisory {
  readonly id: string;
  readonly summary?: string;
  /** The package is malware (ids of OSV's malicious packages begin with MAL-). */
  readonly malicious: boolean;
}

/** The known advisories of each package; rejects when no source answers. */
export type Advisories = (packages: readonly PackageReference[]) => Promise<readonly (readonly Advisory[])[]>;

/** The part of an OSV record that decides whether it affects a package. */
export interface OsvRecord {
  readonly id: string;
  readonly summary?: string;
  readonly withdrawn?: string;
  readonly aliases?: readonly string[];
  readonly affected?: readonly {
    readonly package?: { readonly ecosystem?: string; readonly name?: string };
    readonly versions?: readonly string[];
    readonly ranges?: readonly {
      readonly type?: string;
      readonly events?: readonly {
        readonly introduced?: string;
        readonly fixed?: string;
        readonly last_affected?: string;
      }[];
    }[];
  }[];
}

export function advisoryOf(record: Pick<OsvRecord, "id" | "summary" | "aliases">): Advisory {
  const malicious = [record.id, ...(record.aliases ?? [])].some((id) => id.startsWith("MAL-"));
  return { id: record.id, malicious, ...(record.summary && { summary: record.summary }) };
}

function sameName(a: string, b: string, ecosystem: PackageReference["ecosystem"]): boolean {
  const plain = (name: string) => (ecosystem === "PyPI" ? name.toLowerCase().replace(/[-_.]+/g, "-") : name);
  return plain(a) === plain(b);
}

/** Whether a record affects this package. Without a version, every record of the package does. */
export function concerns(record: OsvRecord, { ecosystem, name, version }: PackageReference): boolean {
  if (record.withdrawn) return false;
  return (record.affected ?? []).some((affected) => {
    if (affected.package?.ecosystem !== ecosystem || !sameName(affected.package.name ?? "", name, ecosystem))
      return false;
    if (version === undefined || affected.versions?.includes(version)) return true;
    if (!affected.versions && !affected.ranges) return true;
    return (affected.ranges ?? []).some(
      ({ type, events = [] }) => type !== "GIT" && inRange(version, events),
    );
  });
}

function inRange(
  version: string,
  events: readonly { introduced?: string; fixed?: string; last_affected?: string }[],
): boolean {
  let affected = false;
  for (const { introduced, fixed, last_affected } of events) {
    if (introduced !== undefined && (introduced === "0" || compareVersions(version, introduced) >= 0))
      affected = true;
    if (fixed !== undefined && compareVersions(version, fixed) >= 0) affected = false;
    if (last_affected !== undefined && compareVersions(version, last_affected) > 0) affected = false;
  }
  return affected;
}
