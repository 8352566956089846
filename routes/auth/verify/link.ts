import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import { linkExpired, validationFailed } from '../../../errors.ts'
import type { Verified } from '../../../plugins/accounts/credentials/verified.ts'

/** A link of a mail, and where it leads in the end. */
export interface Link {
  token: string
  type: string
  target: string
}

interface LinkFields {
  token?: string
  token_hash?: string
  type?: string
  redirect_to?: string
}

type Done = Extract<Verified, { state: 'done' }>

/** Of the audit entry. */
const traits = { provider: 'email' }

/** Opening a link: the person is signed in and sent to the site, which also learns of every refusal. */
export function linkOpening(fastify: FastifyInstance) {
  const { audit, credentials, db, apiErrors, flows, otp, sessions } = fastify

  /** Spends the link. The address to send the browser to. */
  async function spend(request: FastifyRequest, link: Link, now: Date): Promise<string> {
    const { token, type, target } = link
    const usesPkce = otp.isPkce(token)
    const outcome = await db.transaction().execute(async (trx) => {
      const verified = await credentials.spend(trx, { type, linkToken: token }, now)
      if (verified.state === 'refused') throw linkExpired()
      if (verified.state === 'half') return verified
      const complete = usesPkce ? issueCode : openSession
      return complete(trx, request, verified, now)
    })
    if (outcome.state === 'half') {
      return flows.withMessage(target, credentials.halfDoneMessage, { inQuery: usesPkce })
    }
    if (outcome.state === 'code') return flows.withCode(target, outcome.code)
    const session = await sessions.answer(outcome.opened, now)
    return flows.withSession(target, session, { type: outcome.type })
  }

  async function issueCode(
    trx: Trx,
    { clientIp: ip }: FastifyRequest,
    { user, type, action }: Done,
    now: Date,
  ) {
    await audit.record(trx, action, user, { ip, now, traits })
    const code = await flows.issueCode(trx, user.id, otp.flowMethodOf(type), now)
    return { state: 'code' as const, code }
  }

  async function openSession(
    trx: Trx,
    { client, clientIp }: FastifyRequest,
    { user, type, action }: Done,
    now: Date,
  ) {
    const entry = audit.entry(action, user, clientIp, traits)
    const opened = await sessions.open(trx, user, { method: 'otp', client, audit: entry }, now)
    return { state: 'opened' as const, opened, type }
  }

  function refusal(request: FastifyRequest, { token, target }: Link, thrown: unknown): string {
    const error = apiErrors.report(request, thrown)
    return flows.withError(target, error, { inQuery: otp.isPkce(token) })
  }

  return {
    /** Throws validation_failed for what is no link at all. */
    read(request: FastifyRequest, fields: LinkFields): Link {
      const token = fields.token || fields.token_hash
      if (!token) throw validationFailed('Verify requires a token or a token hash')
      if (!fields.type) throw validationFailed('Verify requires a verification type')
      const target = flows.resolveTarget(request, fields.redirect_to)
      return { token, type: fields.type, target }
    },

    /** Where the browser goes on to: with what the link was for, or with the refusal. */
    open: (request: FastifyRequest, link: Link, now: Date): Promise<string> =>
      spend(request, link, now).catch((thrown) => refusal(request, link, thrown)),

    /** Undefined for a link that can still be opened, else where to say that it cannot. */
    async deadEnd(request: FastifyRequest, link: Link, now: Date): Promise<string | undefined> {
      const isLive = await credentials.isLive(db, link.token, link.type, now)
      return isLive ? undefined : refusal(request, link, linkExpired())
    },
  }
}
