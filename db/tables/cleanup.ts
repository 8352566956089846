/** The last run of the cleanup by any replica. */
export interface CleanUpRunsTable {
  kind: string
  ended_at: Date
}
