/** Figures for the overview of the console. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import { exactCountLimit } from '../../db/core/paging.ts'
import { countMailBacklog } from '../../db/emails/queue.ts'
import {
  type BucketCount,
  countActiveSessions,
  countNewUsers,
  estimateSessions,
  listWebhookHealth,
  sumUsageCounts,
  type WebhookHealth,
} from '../../db/statistics/statistics.ts'
import { countListed, estimateListed } from '../../db/users/search.ts'
import type { Range, Statistics } from '../../schemas/console/statistics.ts'
import { toTimestamp } from '../../schemas/values/timestamp.ts'

const dayMs = 86_400_000

/** By concurrent statements. */
export async function readStatistics(
  app: FastifyInstance,
  { range, aud, version }: { range: Range; aud: string; version: string },
  now: Date,
): Promise<Statistics> {
  const { jwt, readDb: db, usageCounts } = app
  await usageCounts.flush()
  const buckets = createBuckets(range, now)
  const { starts, bucketSeconds } = buckets
  const [usage, created, users, sessions, mail, webhooks, keys] = await Promise.all([
    sumUsageCounts(db, buckets),
    countNewUsers(db, { aud, starts, bucketSeconds }),
    countUsers(db, aud),
    countSessions(db, now),
    countMailBacklog(db),
    listWebhookHealth(db),
    jwt.keys.list(),
  ])
  return {
    version,
    range,
    bucket_seconds: bucketSeconds,
    buckets: buckets.starts.map(formatBucketStart),
    users: { ...users, new: pointsIn(buckets, created) },
    sign_ins: signInsIn(usage, buckets),
    sessions,
    mail: { ...mail, oldest_waiting: mail.oldest_waiting && toTimestamp(mail.oldest_waiting) },
    limits: groupByName(usage, 'limit').map((group) => ({
      endpoint: group[0]?.name ?? '',
      ...computeTotals(group, buckets),
    })),
    hooks: hooksIn(usage),
    webhooks: summarizeWebhooks(webhooks),
    keys: keys.map(({ kid, alg, state, created_at }) => ({
      kid,
      alg,
      state,
      created_at: toTimestamp(created_at),
      age_days: Math.floor((now.getTime() - created_at.getTime()) / dayMs),
    })),
  }
}

async function countUsers(db: Db, aud: string): Promise<{ total: number; exact: boolean }> {
  const listing = { aud, direction: 'desc' as const, search: undefined }
  const counted = await countListed(db, listing)
  if (counted <= exactCountLimit) return { total: counted, exact: true }
  return { total: Math.max(counted, await estimateListed(db, listing)), exact: false }
}

async function countSessions(db: Db, now: Date): Promise<{ active: number; exact: boolean }> {
  const counted = await countActiveSessions(db, now)
  if (counted <= exactCountLimit) return { active: counted, exact: true }
  return { active: Math.max(counted, (await estimateSessions(db)) ?? 0), exact: false }
}

function signInsIn(usage: readonly BucketCount[], buckets: Buckets): Statistics['sign_ins'] {
  return groupByName(usage, 'sign_in').map((group) => ({
    method: group[0]?.name ?? '',
    outcome: toOutcome(group[0]?.outcome),
    ...computeTotals(group, buckets),
  }))
}

const outcomes = ['success', 'failed', 'limited', 'error'] as const

function toOutcome(text: string | undefined): (typeof outcomes)[number] {
  return outcomes.find((outcome) => outcome === text) ?? 'failed'
}

function pointsIn(buckets: Buckets, rows: readonly { at: number; count: number }[]) {
  const counts = countsIn(buckets, rows)
  return buckets.starts.map((start, i) => ({ at: formatBucketStart(start), count: counts[i] ?? 0 }))
}

const formatBucketStart = (start: number): string => toTimestamp(new Date(start * 1000))

/** A webhook is failing while it waits after failures, or is paused because of them. */
function summarizeWebhooks(webhooks: readonly WebhookHealth[]): Statistics['webhooks'] {
  const failing = webhooks.filter(({ failures, reason }) => failures > 0 || reason !== null)
  return {
    active: webhooks.filter(({ state }) => state === 'active').length,
    paused: webhooks.filter(({ state }) => state === 'paused').length,
    failing: failing.map(({ dead, ...webhook }) => webhook),
    dead_deliveries: webhooks.reduce((sum, { dead }) => sum + dead, 0),
  }
}

function hooksIn(usage: readonly BucketCount[]): Statistics['hooks'] {
  const ofHooks = Object.values(
    Object.groupBy(
      usage.filter(({ kind }) => kind === 'hook'),
      ({ name }) => name,
    ),
  )
  return ofHooks.flatMap((rows = []) => {
    const [first] = rows
    const failed = rows.filter(({ outcome }) => outcome === 'failed')
    return first ? [{ name: first.name, calls: sumCounts(rows), failures: sumCounts(failed) }] : []
  })
}

/** Groups rows by name and outcome, in the order of the rows. */
function groupByName(usage: readonly BucketCount[], kind: BucketCount['kind']): BucketCount[][] {
  const rows = usage.filter((row) => row.kind === kind)
  const groups = Object.groupBy(rows, ({ name, outcome }) => `${name} ${outcome}`)
  return Object.values(groups).flatMap((group) => (group ? [group] : []))
}

function computeTotals(rows: readonly BucketCount[], buckets: Buckets) {
  return { total: sumCounts(rows), counts: countsIn(buckets, rows) }
}

function sumCounts(rows: readonly { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0)
}

// The times of the buckets in a range.

const hour = 3600

const shapes: Record<Range, { bucketSeconds: number; count: number }> = {
  '24h': { bucketSeconds: hour, count: 24 },
  '7d': { bucketSeconds: 6 * hour, count: 28 },
  '30d': { bucketSeconds: 24 * hour, count: 30 },
}

interface Buckets {
  since: Date
  bucketSeconds: number
  /** Start of each bucket, in seconds since the epoch. */
  starts: number[]
}

/** Buckets begin at whole hours and days of UTC; the last one is not complete. */
function createBuckets(range: Range, now: Date): Buckets {
  const { bucketSeconds, count } = shapes[range]
  const last = Math.floor(now.getTime() / 1000 / bucketSeconds) * bucketSeconds
  const starts = Array.from({ length: count }, (_, i) => last - (count - 1 - i) * bucketSeconds)
  return { since: new Date((starts[0] ?? last) * 1000), bucketSeconds, starts }
}

/** One count for each bucket. */
function countsIn(
  { starts }: Pick<Buckets, 'starts'>,
  rows: readonly { at: number; count: number }[],
): number[] {
  const byStart = new Map(rows.map(({ at, count }) => [at, count]))
  return starts.map((start) => byStart.get(start) ?? 0)
}
