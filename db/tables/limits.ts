import type { Generated } from 'kysely'

/** The time of the last message; the key is a keyed hash of the recipient, known user or not. */
export interface SendIntervalsTable {
  key: string
  sent_at: Date
}

/** The key is a keyed hash of the identifier, known user or not. */
export interface ThrottlesTable {
  key: string
  failures: number
  blocked_until: Date | null
  updated_at: Date
  /** Attempts since the start of the day; null in a row of an earlier version. */
  day_failures: Generated<number>
  day_began_at: Date | null
}

/** The remaining messages of a quota, shared by all replicas. */
export interface SendQuotasTable {
  /** The channel and purpose; for a client or recipient, with its keyed hash. */
  channel: string
  tokens: number
  refilled_at: Date
  /** The limit when `tokens` was stored; null in an older row. */
  quota: number | null
}
