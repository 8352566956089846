/** Import cycles among files and the levels of the import graph. */
import type { Source } from './sources.ts'

type Graph = Map<string, string[]>

/** Imports of types count as well: a reader has to follow them too. */
export function importGraph(sources: readonly Source[]): Graph {
  const known = new Set(sources.map(({ path }) => path))
  return new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.flatMap(({ file }) => (file !== undefined && known.has(file) ? [file] : [])),
    ]),
  )
}

/** The graph of folders: each file is reduced to the first `depth` parts of its path. */
export function folderGraph(graph: Graph, depth: number): Graph {
  const folders: Graph = new Map()
  for (const [from, targets] of graph) {
    const own = getFolder(from, depth)
    const others = targets.map((to) => getFolder(to, depth)).filter((folder) => folder !== own)
    folders.set(own, [...new Set([...(folders.get(own) ?? []), ...others])])
  }
  return folders
}

function getFolder(path: string, depth: number): string {
  const parts = path.split('/')
  return parts.slice(0, Math.max(1, Math.min(depth, parts.length - 1))).join('/')
}

/** Strongly connected components of more than one node (Tarjan's algorithm). */
export function findCycles(graph: Graph): string[][] {
  const index = new Map<string, number>()
  const aal1 = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (node: string) => {
    index.set(node, index.size)
    aal1.set(node, index.get(node) ?? 0)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) aal1.set(node, Math.min(aal1.get(node) ?? 0, aal1.get(next) ?? 0))
    }
    if (aal1.get(node) !== index.get(node)) return
    const component = stack.splice(stack.indexOf(node))
    if (component.length > 1) cycles.push(component)
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return cycles
}

/** The longest chain of imports below each node; the graph must have no cycle. */
export function computeLevels(graph: Graph): Map<string, number> {
  const levels = new Map<string, number>()
  const computeLevel = (node: string): number => {
    const known = levels.get(node)
    if (known !== undefined) return known
    const level = 1 + Math.max(0, ...(graph.get(node) ?? []).map(computeLevel))
    levels.set(node, level)
    return level
  }
  for (const node of graph.keys()) computeLevel(node)
  return levels
}
