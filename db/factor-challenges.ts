/** What a factor was asked, by which session; an answer is accepted once. */
import { type Selectable, sql } from 'kysely'

import { type AuditValues, auditInsert, auditValues, type TrailEntry } from './audit-log-entries.ts'
import type { Db, Trx } from './database.ts'
import type { FactorChallengesTable, MfaChallengesTable } from './mfa.ts'
import { preparedRow, preparedWrite, type ValueOf } from './prepared-statement.ts'
import { isUniqueViolation } from './unique-violation.ts'
import { holdUser } from './user-rows.ts'

export interface NewChallenge {
  id: string
  factorId: string
  userId: string
  sessionId: string
  ip: string
  /** Encrypted; '' when no code was sent. */
  code: string
  ceremony?: 'create' | 'request'
  challenge?: string
  /** JSON of a WebAuthn challenge in the form in which GoTrue would find it. */
  sessionData?: object
}

/**
 * One statement: the challenge, when the factor was last asked, and the audit entry. False when the factor is gone.
 * GoTrue's index lets no two factors be asked at the same moment, so the moment gets microseconds by chance, and what
 * still collides is tried again.
 */
export async function insertChallenge(
  db: Db,
  challenge: NewChallenge,
  audit: Pick<TrailEntry, 'entry'>,
  now: Date,
  tries = 5,
): Promise<boolean> {
  try {
    return await tryInsert(db, challenge, audit, now)
  } catch (error) {
    if (!isUniqueViolation(error) || tries <= 1) throw error
    return insertChallenge(db, challenge, audit, now, tries - 1)
  }
}

async function tryInsert(
  db: Db,
  challenge: NewChallenge,
  audit: Pick<TrailEntry, 'entry'>,
  now: Date,
): Promise<boolean> {
  const row = await insertAsked(db, {
    ...challenge,
    ...auditValues(audit),
    ceremony: challenge.ceremony ?? null,
    challenge: challenge.challenge ?? null,
    sessionData: challenge.sessionData ? JSON.stringify(challenge.sessionData) : null,
    now,
  })
  return row !== undefined
}

type Values = Omit<NewChallenge, 'ceremony' | 'challenge' | 'sessionData'> &
  AuditValues & {
    ceremony: 'create' | 'request' | null
    challenge: string | null
    sessionData: string | null
    now: Date
  }

const insertAsked = preparedRow((db, value: ValueOf<Values>) =>
  db
    .with('held', (eb) => holdUser(eb, value('userId')))
    .with('asked', (eb) =>
      eb
        .updateTable('mfa_factors')
        .set({
          last_challenged_at: sql`${value('now')}::timestamptz + floor(random() * 1000) * interval '1 microsecond'`,
          updated_at: value('now'),
        })
        .where('id', '=', value('factorId'))
        .where('user_id', '=', (held) => held.selectFrom('held').select('held.id'))
        .returning('id'),
    )
    .with('made', (eb) =>
      eb
        .insertInto('mfa_challenges')
        .columns([
          'id',
          'factor_id',
          'created_at',
          'ip_address',
          'otp_code',
          'web_authn_session_data',
        ])
        .expression((of) =>
          of
            .selectFrom('asked')
            .select([
              sql<string>`${value('id')}::uuid`.as('id'),
              'asked.id as factor_id',
              sql<Date>`${value('now')}::timestamptz`.as('created_at'),
              sql<string>`${value('ip')}::inet`.as('ip_address'),
              sql<string>`${value('code')}`.as('otp_code'),
              sql<string | null>`${value('sessionData')}::jsonb`.as('web_authn_session_data'),
            ]),
        )
        .returning('id'),
    )
    .with('audited', (eb) => auditInsert(eb, value, sql`exists (select from asked)`))
    .insertInto('postern_factor_challenges')
    .columns(['challenge_id', 'session_id', 'ceremony', 'challenge'])
    .expression((of) =>
      of
        .selectFrom('made')
        .select([
          'made.id as challenge_id',
          sql<string>`${value('sessionId')}::uuid`.as('session_id'),
          sql<'create' | 'request' | null>`${value('ceremony')}::text`.as('ceremony'),
          sql<string | null>`${value('challenge')}::text`.as('challenge'),
        ]),
    )
    .returning('challenge_id'),
)

export type ChallengeRecord = Selectable<MfaChallengesTable> &
  Pick<Selectable<FactorChallengesTable>, 'ceremony' | 'challenge'> & {
    /** Whether it was made for a client at this address. */
    is_same_address: boolean
  }

export interface ChallengeKey {
  id: string
  factorId: string
  sessionId: string
}

/** The challenge, when it was made for this factor in this session; one that GoTrue made, in any of the person's. */
export function findChallenge(
  db: Db,
  { id, factorId, sessionId }: ChallengeKey,
  ip: string,
): Promise<ChallengeRecord | undefined> {
  return db
    .selectFrom('mfa_challenges')
    .leftJoin(
      'postern_factor_challenges',
      'postern_factor_challenges.challenge_id',
      'mfa_challenges.id',
    )
    .selectAll('mfa_challenges')
    .select([
      'postern_factor_challenges.ceremony',
      sql<
        string | null
      >`coalesce(postern_factor_challenges.challenge, web_authn_session_data ->> 'challenge')`.as(
        'challenge',
      ),
      sql<boolean>`mfa_challenges.ip_address = ${ip}::inet`.as('is_same_address'),
    ])
    .where('mfa_challenges.id', '=', id)
    .where('mfa_challenges.factor_id', '=', factorId)
    .where((eb) =>
      eb.or([
        eb('postern_factor_challenges.session_id', '=', sessionId),
        eb('postern_factor_challenges.challenge_id', 'is', null),
      ]),
    )
    .executeTakeFirst()
}

/** Spends the challenge, by one statement; false when it was spent before or is too old. */
export async function spendChallenge(
  trx: Trx,
  id: string,
  madeAfter: Date,
  now: Date,
): Promise<boolean> {
  const result = await trx
    .updateTable('mfa_challenges')
    .set({ verified_at: now })
    .where('id', '=', id)
    .where('verified_at', 'is', null)
    .where('created_at', '>', madeAfter)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

const deleteHeld = preparedWrite((db, value: ValueOf<{ id: string; userId: string }>) =>
  db
    .with('held', (eb) => holdUser(eb, value('userId')))
    .deleteFrom('mfa_challenges')
    .where('id', '=', value('id'))
    .where((eb) => eb.exists(eb.selectFrom('held').select('held.id'))),
)

export async function deleteChallenge(db: Db, id: string, userId: string): Promise<void> {
  await deleteHeld(db, { id, userId })
}
