/** The data of the console's overview. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from '../values/choices.ts'
import { Timestamp } from '../values/timestamp.ts'

const Count = Type.Integer()
const Counts = Type.Array(Count, { description: 'One for each of `buckets`' })

const ranges = ['24h', '7d', '30d'] as const
export const Range = StringEnum(ranges)
export type Range = Static<typeof Range>

export const Statistics = Type.Object(
  {
    version: Type.String(),
    range: Range,
    bucket_seconds: Type.Integer(),
    buckets: Type.Array(Timestamp, {
      description: 'The start of each; the last one is incomplete',
    }),
    users: Type.Object({
      total: Count,
      exact: Type.Boolean({ description: 'False for an estimate, above 10,000' }),
      new: Type.Array(Type.Object({ at: Timestamp, count: Count }), {
        description: 'One for each of `buckets`',
      }),
    }),
    sign_ins: Type.Array(
      Type.Object({
        method: Type.String(),
        outcome: StringEnum(['success', 'failed', 'limited', 'error']),
        total: Count,
        counts: Counts,
      }),
    ),
    sessions: Type.Object({ active: Count, exact: Type.Boolean() }),
    mail: Type.Object({ waiting: Count, dead: Count, oldest_waiting: nullable(Timestamp) }),
    limits: Type.Array(
      Type.Object(
        {
          endpoint: Type.String({ description: 'The name of the limit' }),
          total: Count,
          counts: Counts,
        },
        { description: 'Requests rejected by a limit' },
      ),
    ),
    hooks: Type.Array(Type.Object({ name: Type.String(), calls: Count, failures: Count })),
    webhooks: Type.Object({
      active: Count,
      paused: Count,
      failing: Type.Array(
        Type.Object({
          id: Type.String({ format: 'uuid' }),
          url: Type.String(),
          state: StringEnum(['active', 'paused']),
          reason: nullable(Type.String()),
          failures: Type.Integer({ description: 'Consecutive batches without a success' }),
        }),
      ),
      dead_deliveries: Type.Integer({ description: 'Abandoned deliveries' }),
    }),
    keys: Type.Array(
      Type.Object({
        kid: Type.String(),
        alg: Type.String(),
        state: StringEnum(['standby', 'current', 'previous', 'revoked']),
        created_at: Timestamp,
        age_days: Type.Integer(),
      }),
    ),
  },
  { title: 'Statistics' },
)
export type Statistics = Static<typeof Statistics>
