import type { Finding } from './enumeration.ts'
import type { Figures, Result } from './measure.ts'

const header = [
  'scenario',
  'server',
  'requests/s',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'server CPU ms',
  'Postgres CPU ms',
  'memory MiB',
  'errors',
]

/** The heading of the table, in Markdown. */
export function tableHead(): string {
  return [row(header), row(header.map((_, i) => (i < 2 ? '---' : '---:')))].join('\n')
}

/** The rows of one scenario: one a side, and with two sides their quotient, first by second. */
export function tableRows(scenario: string, results: Result[]): string {
  const rows = results.map((result) =>
    'skipped' in result
      ? row([scenario, result.side, `skipped: ${result.skipped}`, ...header.slice(3).map(() => '')])
      : row([scenario, result.side, ...figureCells(result)]),
  )
  const [first, second] = results
  if (first && second && !('skipped' in first) && !('skipped' in second)) {
    rows.push(row([scenario, '**ratio**', ...ratioCells(first, second)]))
  }
  return rows.join('\n')
}

/** What a reader must know beside the table: failures by kind, and a generator at its limit. */
export function remarks(scenario: string, results: Result[]): string[] {
  return results.flatMap((result) => {
    if ('skipped' in result) return []
    const failures = Object.entries(result.errors).map(([kind, n]) => `${n} x ${kind}`)
    const name = `${scenario}, ${result.side}`
    const load = (result.perSecond * result.generatorCpu) / 1000
    return [
      ...(failures.length > 0 ? [`${name}: ${failures.join(', ')}`] : []),
      ...(load > 0.85
        ? [`${name}: the generator used ${load.toFixed(2)} of a core, so the server may do more`]
        : []),
    ]
  })
}

/** The heading of the table about addresses that are known, kind by kind, and ones that are not. */
export function findingsHead(): string {
  const names = [
    'question',
    'people',
    'server',
    'statuses',
    'known ms',
    'unknown ms',
    'difference ms',
  ]
  const cells = [...names, 'known slower', 'p (rank)', 'p (shape)', 'same text', 'verdict']
  return [row(cells), row(cells.map((_, i) => (i < 4 ? '---' : '---:')))].join('\n')
}

/** One row of it; times are medians. */
export function findingRow(server: string, finding: Finding): string {
  const { question, kind, statuses, knownMs, unknownMs, comparison, tells, alike } = finding
  return row([
    question,
    kind,
    server,
    statuses.join(', '),
    ...[knownMs, unknownMs, knownMs - unknownMs].map((ms) => ms.toFixed(3)),
    `${Math.round(comparison.dominance * 100)} %`,
    ...[comparison.rankP, comparison.distanceP].map((p) => p.toFixed(4)),
    tells.length === 0 ? 'yes' : 'no',
    alike ? 'alike' : '**differs**',
  ])
}

function measured(figures: Figures): (number | undefined)[] {
  const { perSecond, p50, p95, p99, serverCpu, postgresCpu, residentMib } = figures
  return [perSecond, p50, p95, p99, serverCpu, postgresCpu, residentMib]
}

function figureCells(figures: Figures): string[] {
  const errors = Object.values(figures.errors).reduce((sum, n) => sum + n, 0)
  return [...measured(figures).map(show), String(errors)]
}

function ratioCells(first: Figures, second: Figures): string[] {
  const divisors = measured(second)
  const quotients = measured(first).map((value, i) => {
    const divisor = divisors[i]
    return value === undefined || !divisor ? undefined : value / divisor
  })
  return [...quotients.map((value) => (value === undefined ? '-' : value.toFixed(2))), '']
}

/** Three significant digits, or none behind the point from 100 up. */
function show(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '-'
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

function row(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}
