/** What each request for a mail comes to, once it is known who lives at the address. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import { findUserByEmail, type Metadata, type UserRecord } from '../../../db/users.ts'
import type { AuditAction } from '../../audit.ts'
import type { LinkContext } from '../links.ts'

/** Plain JSON, so that a queue can hold it. */
export interface MailRequest {
  kind: 'recovery' | 'magic_link' | 'confirmation' | 'email_change'
  /** In its stored form. */
  address: string
  aud: string
  /** For a person who is signed up by this. */
  data: Metadata
  context: LinkContext
  ip: string
}

type Answer = (trx: Trx, request: MailRequest, now: Date) => Promise<void>
export type Answers = Record<MailRequest['kind'], Answer>

interface AnswerDeps {
  audit: FastifyInstance['audit']
  emailChanges: FastifyInstance['emailChanges']
  letters: FastifyInstance['letters']
  signUps: FastifyInstance['signUps']
  /** AUTH_DISABLE_SIGNUP */
  signUpsClosed: boolean
}

export function createAnswers(deps: AnswerDeps): Answers {
  const { audit, emailChanges, letters, signUps, signUpsClosed } = deps

  async function send(
    trx: Trx,
    kind: 'recovery' | 'magic_link' | 'confirmation',
    person: UserRecord,
    { context, ip }: MailRequest,
    now: Date,
  ): Promise<void> {
    await letters.sendLink(trx, kind, person, context, now)
    const action: AuditAction =
      kind === 'confirmation' ? 'user_confirmation_requested' : 'user_recovery_requested'
    await audit.record(trx, action, person, { ip, now })
  }

  /** Nobody has proven this address: whoever asks is signed up without a password. */
  async function signUp(trx: Trx, request: MailRequest, now: Date): Promise<void> {
    const { address, aud, data } = request
    const contact = { provider: 'email' as const, address }
    const person = await signUps.register(trx, { contact, aud, passwordHash: null, data }, now)
    if (!person) return
    if (!signUps.autoconfirm) return send(trx, 'confirmation', person, request, now)
    return send(trx, 'magic_link', await signUps.confirm(trx, person, now), request, now)
  }

  return {
    async recovery(trx, request, now) {
      const person = await findUserByEmail(trx, request.address, request.aud)
      if (person) await send(trx, 'recovery', person, request, now)
    },

    async magic_link(trx, request, now) {
      const person = await findUserByEmail(trx, request.address, request.aud)
      if (person && mayKeepAccount(person)) return send(trx, 'magic_link', person, request, now)
      if (!signUpsClosed) await signUp(trx, request, now)
    },

    async confirmation(trx, request, now) {
      const person = await findUserByEmail(trx, request.address, request.aud)
      if (!person || person.email_confirmed_at) return
      await send(trx, 'confirmation', person, request, now)
    },

    async email_change(trx, request, now) {
      const person = await findUserByEmail(trx, request.address, request.aud)
      if (person) await emailChanges.repeat(trx, person, request.context, now)
    },
  }

  /**
   * An account that is proven, invited or could not be made anew is left as it is, and the link into it clears
   * what was never proven; any other one is signed up again.
   */
  function mayKeepAccount(person: UserRecord): boolean {
    const isProven = person.email_confirmed_at !== null || person.phone_confirmed_at !== null
    return isProven || person.invited_at !== null || signUps.autoconfirm || signUpsClosed
  }
}
