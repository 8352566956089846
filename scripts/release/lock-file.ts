/** Reads package-lock.json: which packages a set of dependencies needs. */

export interface LockedPackage {
  version?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  peer?: boolean
  hasInstallScript?: boolean
  /** Processors that it runs on; without it, the package runs everywhere. */
  cpu?: string[]
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

export interface Lock {
  name: string
  version: string
  lockfileVersion: number
  requires: boolean
  /** By folder, for example `node_modules/pg`; the root has the empty name. */
  packages: Record<string, LockedPackage>
}

/** The packages that `root` needs, by folder; development marks do not matter. */
export function requiredPackages(lock: Lock, root: LockedPackage): Map<string, LockedPackage> {
  const reached = new Map<string, LockedPackage>()
  const visit = (folder: string, found: LockedPackage) => {
    for (const name of requiredBy(found)) {
      const at = resolve(lock, folder, name)
      const next = at === undefined ? undefined : lock.packages[at]
      if (at === undefined || next === undefined || reached.has(at)) continue
      reached.set(at, next)
      visit(at, next)
    }
  }
  visit('', root)
  return reached
}

function requiredBy(found: LockedPackage): string[] {
  const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = found
  const peers = Object.keys(peerDependencies).filter(
    (name) => !peerDependenciesMeta?.[name]?.optional,
  )
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** As Node finds it: in the folder itself, then in each one above. */
function resolve(lock: Lock, folder: string, name: string): string | undefined {
  let from = folder
  for (;;) {
    const at = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`
    if (lock.packages[at]) return at
    if (from === '') return undefined
    from = from.slice(0, Math.max(from.lastIndexOf('/node_modules/'), 0))
  }
}
