/** Counts of events by the hour. */
export interface UsageCountsTable {
  hour: Date
  kind: 'sign_in' | 'limit' | 'hook'
  name: string
  outcome: string
  count: number
}
