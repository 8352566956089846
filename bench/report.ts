import type { Finding } from './enumeration.ts'
import type { Idle } from './idle.ts'
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
  'floors',
  'loop p99 ms',
  'memory MiB',
  'errors',
]

/** The heading of the table, in Markdown. */
export function tableHead(): string {
  return [row(header), row(header.map((_, i) => (i < 2 ? '---' : '---:')))].join('\n')
}

/**
 * The rows of one scenario: one per variant, and the ratio of the first to each other one. With a baseline, each row
 * shows the multiple of its processor time.
 */
export function tableRows(scenario: string, results: Result[], floor?: Result): string {
  const minimal = floor && isMeasured(floor) ? sumCpu(floor) : undefined
  const rows = [...results, ...(floor ? [floor] : [])].map((result) =>
    isMeasured(result)
      ? row([scenario, result.variant, ...figureCells(result, minimal)])
      : row([
          scenario,
          result.variant,
          `skipped: ${result.skipped}`,
          ...header.slice(3).map(() => ''),
        ]),
  )
  const [first, ...others] = results
  if (first && isMeasured(first)) {
    for (const other of others.filter(isMeasured)) {
      const name = others.length > 1 ? `**by ${other.variant}**` : '**ratio**'
      rows.push(row([scenario, name, ...ratioCells(first, other)]))
    }
  }
  return rows.join('\n')
}

function isMeasured(result: Result): result is Figures {
  return !('skipped' in result)
}

/** Server and Postgres together; undefined when one of them is not readable. */
function sumCpu({ serverCpu, postgresCpu }: Figures): number | undefined {
  return serverCpu === undefined || postgresCpu === undefined ? undefined : serverCpu + postgresCpu
}

/** Notes below the table: failures by type, and a saturated generator. */
export function listNotes(scenario: string, results: Result[]): string[] {
  return results.flatMap((result) => {
    if (!isMeasured(result)) return []
    const failures = Object.entries(result.errors).map(([kind, n]) => `${n} x ${kind}`)
    const name = `${scenario}, ${result.variant}`
    const load = (result.perSecond * result.generatorCpu) / 1000
    return [
      ...(failures.length > 0 ? [`${name}: ${failures.join(', ')}`] : []),
      ...(load > 0.85
        ? [`${name}: the generator used ${load.toFixed(2)} of a core, so the server may be faster`]
        : []),
    ]
  })
}

/** The table of servers without requests, in Markdown. */
export function idleTable(idle: Idle[]): string {
  const names = ['idle minute', 'server CPU ms', 'Postgres CPU ms', 'memory MiB']
  return [
    row(names),
    row(names.map((_, i) => (i < 1 ? '---' : '---:'))),
    ...idle.map(({ variant, serverCpu, postgresCpu, residentMib }) =>
      row([variant, ...[serverCpu, postgresCpu, residentMib].map(show)]),
    ),
  ].join('\n')
}

/** The heading of the table of known and unknown identifiers, by account state. */
export function findingsHead(): string {
  const names = [
    'question',
    'users',
    'server',
    'statuses',
    'known ms',
    'unknown ms',
    'difference ms',
  ]
  const cells = [...names, 'known slower', 'same text', 'verdict']
  return [row(cells), row(cells.map((_, i) => (i < 4 ? '---' : '---:')))].join('\n')
}

/** One row of it; times are medians. */
export function findingRow(server: string, finding: Finding): string {
  const {
    question,
    kind,
    statuses,
    knownMs,
    unknownMs,
    knownSlower,
    differences,
    isIndistinguishable,
  } = finding
  return row([
    question,
    kind,
    server,
    statuses.join(', '),
    ...[knownMs, unknownMs, knownMs - unknownMs].map((ms) => ms.toFixed(3)),
    `${Math.round(knownSlower * 100)} %`,
    differences.length === 0 ? 'yes' : 'no',
    isIndistinguishable ? 'alike' : '**differs**',
  ])
}

function measured(figures: Figures, minimal?: number): (number | undefined)[] {
  const { perSecond, p50, p95, p99, serverCpu, postgresCpu, loopDelay, residentMib } = figures
  const floors = quotient(sumCpu(figures), minimal)
  return [perSecond, p50, p95, p99, serverCpu, postgresCpu, floors, loopDelay, residentMib]
}

function figureCells(figures: Figures, minimal: number | undefined): string[] {
  const errors = Object.values(figures.errors).reduce((sum, n) => sum + n, 0)
  return [...measured(figures, minimal).map(show), String(errors)]
}

function ratioCells(first: Figures, second: Figures): string[] {
  const minimal = sumCpu(second)
  const divisors = measured(second, minimal)
  const quotients = measured(first, minimal).map((value, i) => quotient(value, divisors[i]))
  return [...quotients.map((value) => (value === undefined ? '-' : value.toFixed(2))), '']
}

function quotient(value: number | undefined, divisor: number | undefined): number | undefined {
  return value === undefined || !divisor ? undefined : value / divisor
}

/** Three significant digits, or no decimals from 100 up. */
function show(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '-'
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

function row(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}
