/** Challenges of factors, each bound to a session; a response is accepted once. */
import { type QueryCreator, type Selectable, sql } from 'kysely'

import {
  type AuditValues,
  auditInsert,
  auditValues,
  type NewAuditLogEntry,
} from '../audit/audit-log-entries.ts'
import type { Database, Db, Trx } from '../core/database.ts'
import { isUniqueViolation } from '../core/errors.ts'
import { executeStatement, type ParamOf, queryOne } from '../core/statement.ts'
import type { FactorChallengesTable, MfaChallengesTable } from '../tables/factors.ts'
import { lockUserShared } from '../users/update-user.ts'

interface NewFactorChallenge
  extends Record<'id' | 'factorId' | 'userId' | 'sessionId' | 'ip', string> {
  /** Encrypted; '' when no code was sent. */
  code: string
  ceremony?: 'create' | 'request'
  challenge?: string
  /** The WebAuthn challenge as JSON in GoTrue's format. */
  sessionData?: object
}

/**
 * One statement: the challenge, the factor's last challenge time, and the audit entry. False when the factor was
 * deleted. GoTrue's index on that time is unique: random microseconds are added, and a collision is retried.
 */
export async function insertChallenge(
  db: Db,
  challenge: NewFactorChallenge,
  audit: Pick<NewAuditLogEntry, 'entry'>,
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
  challenge: NewFactorChallenge,
  audit: Pick<NewAuditLogEntry, 'entry'>,
  now: Date,
): Promise<boolean> {
  const row = await insertChallengeOfUser(db, {
    ...challenge,
    ...auditValues(audit),
    ceremony: challenge.ceremony ?? null,
    challenge: challenge.challenge ?? null,
    sessionData: challenge.sessionData ? JSON.stringify(challenge.sessionData) : null,
    now,
  })
  return row !== undefined
}

type Values = Omit<NewFactorChallenge, 'ceremony' | 'challenge' | 'sessionData'> &
  AuditValues & {
    ceremony: 'create' | 'request' | null
    challenge: string | null
    sessionData: string | null
    now: Date
  }

const challengeColumns = [
  'id',
  'factor_id',
  'created_at',
  'ip_address',
  'otp_code',
  'web_authn_session_data',
] as const

/** The challenge of the factor in the CTE `asked`. */
function challengeInsert(
  db: QueryCreator<Database & { asked: { id: string } }>,
  value: ParamOf<Values>,
) {
  return db
    .insertInto('mfa_challenges')
    .columns(challengeColumns)
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
    .returning('id')
}

const insertChallengeOfUser = queryOne((db, value: ParamOf<Values>) =>
  db
    .with('locked', (eb) => lockUserShared(eb, value('userId')))
    .with('asked', (eb) =>
      eb
        .updateTable('mfa_factors')
        .set({
          last_challenged_at: sql`${value('now')}::timestamptz + floor(random() * 1000) * interval '1 microsecond'`,
          updated_at: value('now'),
        })
        .where('id', '=', value('factorId'))
        .where('user_id', '=', (of) => of.selectFrom('locked').select('locked.id'))
        .returning('id'),
    )
    .with('made', (eb) => challengeInsert(eb, value))
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
    /** Whether it was created by a client with this address. */
    is_same_address: boolean
  }

interface ChallengeKey {
  id: string
  factorId: string
  sessionId: string
}

/** The challenge of this factor and session. One created by GoTrue is valid in every session of the user. */
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

/** Consumes the challenge in one statement. Returns false when it was consumed before or has expired. */
export async function consumeChallenge(
  trx: Trx,
  id: string,
  createdAfter: Date,
  now: Date,
): Promise<boolean> {
  const result = await trx
    .updateTable('mfa_challenges')
    .set({ verified_at: now })
    .where('id', '=', id)
    .where('verified_at', 'is', null)
    .where('created_at', '>', createdAfter)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

const deleteLocked = executeStatement((db, value: ParamOf<{ id: string; userId: string }>) =>
  db
    .with('locked', (eb) => lockUserShared(eb, value('userId')))
    .deleteFrom('mfa_challenges')
    .where('id', '=', value('id'))
    .where((eb) => eb.exists(eb.selectFrom('locked').select('locked.id'))),
)

export async function deleteChallenge(db: Db, id: string, userId: string): Promise<void> {
  await deleteLocked(db, { id, userId })
}
