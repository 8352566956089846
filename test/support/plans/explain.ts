/** Finds steps of a plan whose cost grows with the number of rows. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import pg from 'pg'

import type { RecordedStatement } from './recorder.ts'

const PlanNode = Type.Recursive((Self) =>
  Type.Object({
    'Node Type': Type.String(),
    'Relation Name': Type.Optional(Type.String()),
    'Index Name': Type.Optional(Type.String()),
    'Index Cond': Type.Optional(Type.String()),
    'Plan Rows': Type.Number(),
    'Total Cost': Type.Number(),
    Plans: Type.Optional(Type.Array(Self)),
  }),
)
type PlanNode = typeof PlanNode.static
const Explained = Type.Tuple([Type.Object({ Plan: PlanNode })])

/**
 * The plans that the server's connections use: one for the values, and the one for all values if Postgres prefers it
 * after five runs, because it is estimated to cost no more than the first and planning it again.
 */
export async function explainPlans(
  client: pg.ClientBase,
  { text, values }: RecordedStatement,
): Promise<PlanNode[]> {
  await client.query(`prepare explained as ${text}`)
  try {
    const literals = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(value)))
    const run = values.length > 0 ? `explained (${literals.join(', ')})` : 'explained'
    const custom = await explainRun(client, run, 'force_custom_plan')
    const generic = await explainRun(client, run, 'force_generic_plan')
    return generic['Total Cost'] > custom['Total Cost'] + planningCost(custom)
      ? [custom]
      : [custom, generic]
  } finally {
    await client.query('deallocate explained')
  }
}

async function explainRun(client: pg.ClientBase, run: string, mode: string): Promise<PlanNode> {
  await client.query(`set plan_cache_mode to ${mode}`)
  const { rows } = await client.query(`explain (format json) execute ${run}`)
  return Value.Parse(Explained, rows[0]['QUERY PLAN'])[0].Plan
}

/** As cached_plan_cost in Postgres's plancache.c, with the usual cpu_operator_cost. */
function planningCost(plan: PlanNode): number {
  const relations = listNodes(plan).filter((node) => node['Relation Name'] !== undefined)
  return 2.5 * (relations.length + 1)
}

/** More than a page of any list, and a user's rows in any table. */
const maxSortedRows = 10_000
/** Reading the narrowest table of ten million rows costs more. The most expensive search costs a third of it. */
const maxCost = 100_000

/** Lists steps whose cost grows with the tables; empty when the plan is flat. */
export function findGrowth(plan: PlanNode, large: readonly string[]): string[] {
  const nodes = listNodes(plan)
  const scanned = nodes
    .filter(isReadWhole)
    .map((node) => node['Relation Name'] ?? '')
    .filter((table) => large.includes(table))
    .map((table) => `reads all of ${table}`)
  const sorted = nodes
    .filter((node) => node['Node Type'] === 'Sort' && rowsBelow(node) > maxSortedRows)
    .map((node) => `sorts ${rowsBelow(node)} rows`)
  const cost = plan['Total Cost']
  return [...scanned, ...sorted, ...(cost > maxCost ? [`costs ${Math.round(cost)}`] : [])]
}

/** A limit directly above a scan ends it; if few rows match, the costs say how long it takes. */
function listNodes(node: PlanNode): PlanNode[] {
  const below = node.Plans ?? []
  const isLimit = node['Node Type'] === 'Limit'
  return [node, ...below.flatMap((plan) => (isLimit && isReadWhole(plan) ? [] : listNodes(plan)))]
}

const isReadWhole = (node: PlanNode): boolean => node['Node Type'] === 'Seq Scan'
const rowsBelow = ({ Plans = [] }: PlanNode) =>
  Math.max(0, ...Plans.map((plan) => plan['Plan Rows']))
