/** `npm run check` prints the import graph: files, cycles, levels of folders and the largest folder. Fails on a cycle. */
import { computeLevels, findCycles, folderGraph, importGraph } from '../test/architecture/cycles.ts'
import { sources } from '../test/architecture/sources.ts'

/** The largest share of all lines that one folder may have, in per cent. */
const maxSharePercent = 25

const files = sources([
  '{server,cli,dev,config,modules,routes,plugins,db,mail,sms,providers,schemas,ui,console}/**/*.{ts,tsx}',
  '*.ts',
])
const graph = importGraph(files)
const folders = folderGraph(graph, 1)
const cycles = [...findCycles(graph), ...findCycles(folders)]
for (const cycle of cycles) console.log(`cycle: ${cycle.join(' → ')}`)

const lines = Map.groupBy(files, ({ path }) => path.split('/')[0] ?? path)
  .entries()
  .map(([folder, members]) => ({ folder, lines: members.reduce(countLines, 0) }))
  .toArray()
  .toSorted((a, b) => b.lines - a.lines)
const total = lines.reduce((sum, { lines: count }) => sum + count, 0)
const toPercent = (count: number) => Math.round((count * 1000) / total) / 10

const levels = cycles.length === 0 ? computeLevels(folders) : new Map<string, number>()
const depth = Math.max(...levels.values())
for (let level = depth; level >= 1; level--) {
  const members = [...levels].filter(([, own]) => own === level).map(([folder]) => folder)
  console.log(`level ${level}: ${members.toSorted().join(', ')}`)
}
const [largest] = lines
const share = toPercent(largest?.lines ?? 0)
console.log(
  `${files.length} files, ${cycles.length} import cycles, ${depth} levels, largest folder ${largest?.folder} with ${share} % of ${total} lines`,
)
process.exitCode = cycles.length === 0 && share < maxSharePercent ? 0 : 1

function countLines(sum: number, { text }: { text: string }): number {
  return sum + text.split('\n').length
}
