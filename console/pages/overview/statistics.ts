/** GET /admin/statistics. */
import type { Point } from '../../parts/plot.tsx'

export const rangeChoices = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const

export interface SignIns {
  method: string
  outcome: 'success' | 'failed' | 'limited' | 'error'
  total: number
  counts: number[]
}

export interface ShownStatistics {
  version: string
  users: { total: number; exact: boolean; new: Point[] }
  sign_ins: SignIns[]
  buckets: string[]
  sessions: { active: number; exact: boolean }
  mail: { waiting: number; dead: number; oldest_waiting: string | null }
  limits: { endpoint: string; total: number; counts: number[] }[]
  hooks: { name: string; calls: number; failures: number }[]
  webhooks: {
    active: number
    paused: number
    failing: { id: string; url: string; state: string; reason: string | null; failures: number }[]
    dead_deliveries: number
  }
  keys: { kid: string; alg: string; state: string; created_at: string; age_days: number }[]
}

/** The sum of several rows per bucket. */
export function sumByBucket(rows: readonly SignIns[], buckets: readonly string[]): Point[] {
  return buckets.map((at, index) => ({
    at,
    count: rows.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0),
  }))
}

export const sumPoints = (points: readonly Point[]): number =>
  points.reduce((sum, { count }) => sum + count, 0)
