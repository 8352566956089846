/** The last run of maintenance that any replica does. */
export interface CleanUpRunsTable {
  kind: string
  ended_at: Date
}
