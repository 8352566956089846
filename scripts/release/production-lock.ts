/** The packages of a lock file that a set of dependencies needs, without those for development only. */

export interface LockedPackage {
  version?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  peer?: boolean
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export interface Lock {
  name: string
  version: string
  lockfileVersion: number
  requires: boolean
  /** By folder, for example `node_modules/pg`; the root has the empty name. */
  packages: Record<string, LockedPackage>
}

/** `root` is the package that depends on them: its entry in the result. */
export function productionLock(lock: Lock, root: LockedPackage): Lock {
  const reached = new Set<string>()
  const visit = (folder: string, found: LockedPackage) => {
    for (const name of requiredBy(found)) {
      const at = resolve(lock, folder, name)
      if (at === undefined || reached.has(at)) continue
      reached.add(at)
      visit(at, lock.packages[at] ?? {})
    }
  }
  visit('', root)
  const packages = [...reached].toSorted().map((at) => [at, unmarked(lock.packages[at] ?? {})])
  return { ...lock, packages: { '': root, ...Object.fromEntries(packages) } }
}

function requiredBy(found: LockedPackage): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = found
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
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

/**
 * npm would not install what is marked as a development package. Overrides of peer dependencies apply to the top package
 * only, so npm would warn of each one elsewhere; what they need is in the list.
 */
function unmarked(found: LockedPackage): LockedPackage {
  const { dev: _, devOptional: __, peerDependencies: ___, ...rest } = found
  return rest
}
