/** Exchanging a refresh token (RFC 6749 §6) of either format for the session as it is from then on. */
import { takeBackAdvance } from '../../../db/refresh-counters.ts'
import type { TokenSession } from '../../../db/sessions.ts'
import { ApiError } from '../../../errors.ts'
import type { Session } from '../../../schemas/session.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import { exchangeCounterToken } from './counter-token.ts'
import { exchangeLegacyToken, longestLegacyToken } from './legacy-token.ts'
import { toSession } from './to-session.ts'

export type ExchangeHouse = House<
  'audit' | 'bearerAuth' | 'db' | 'emails' | 'encryption' | 'events' | 'takeover'
>

export interface Exchanged {
  record: TokenSession
  /** The token to answer with. */
  token: string
  outcome: 'rotated' | 'reused'
}

/** A refusal is returned, not thrown, because it may have had something to write down. */
export type Outcome = Exchanged | ApiError

/**
 * The session with the tokens that it has from then on. Throws validation_failed, refresh_token_not_found,
 * refresh_token_already_used, session_expired, user_banned, conflict, token_too_large or HookError; what a refusal had to
 * write is committed by then.
 */
export async function refresh(
  house: ExchangeHouse & House<'hooks' | 'jwt' | 'telemetry'>,
  presented: string,
  client: Client,
  now: Date,
): Promise<Session> {
  const isLegacy = presented.length <= longestLegacyToken
  const exchange = isLegacy ? exchangeLegacyToken : exchangeCounterToken
  const exchanged = await exchange(house, presented, client, now)
  house.telemetry.metrics.count('postern.token_refreshes', { outcome: nameOf(exchanged) })
  if (exchanged instanceof ApiError) throw exchanged
  return answer(house, exchanged, client, now)
}

/** A token that cannot be answered with is not spent: its client would come back with it and be taken for a thief. */
async function answer(
  house: ExchangeHouse & House<'hooks' | 'jwt'>,
  { record, token, outcome }: Exchanged,
  { ip }: Client,
  now: Date,
): Promise<Session> {
  const method = 'token_refresh'
  const facts = { person: record, session: record, refreshToken: token, method, ip }
  try {
    return await toSession(house, facts, now)
  } catch (error) {
    if (outcome === 'rotated') await takeBackAdvance(house.db, record)
    throw error
  }
}

/** As the metric calls it. */
function nameOf(outcome: Outcome): string {
  if (!(outcome instanceof ApiError)) return outcome.outcome
  return outcome.errorCode === 'refresh_token_already_used' ? 'reuse_detected' : 'refused'
}
