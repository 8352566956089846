/** How often something happened in each hour: sign-ins, rejected requests and calls of hooks, for the console. */
import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_usage_counts',
    {
      hour: 'timestamptz not null',
      kind: 'text not null',
      name: 'text not null',
      outcome: 'text not null',
      count: 'bigint not null',
    },
    ['primary key (hour, kind, name, outcome)'],
  )
}
