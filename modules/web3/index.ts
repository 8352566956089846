/** Sign-in with wallets: Ethereum (EIP-4361) and Solana. */
import { createHash } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findWalletIdentity, lockIdentity } from '../../db/identities/identities.ts'
import { consumeOnce } from '../../db/replays/replays.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import { walletRejected } from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { createAuditEntry } from '../audit/index.ts'
import { completeExternalSignIn, permitExternalUser } from '../identities/index.ts'
import type { ExternalUser } from '../identities/types.ts'
import type { LinkContext } from '../otp/links.ts'
import { createSession, toTokenResponse } from '../sessions/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import { type SignedMessage, type VerifiedMessage, verifyMessage } from './verify.ts'

export { checkEnabled } from './verify.ts'

interface WalletContext {
  aud: string
  ip: string
  clientInfo: ClientInfo
  links: LinkContext
}

const provider = 'web3'

/**
 * Creates a session for the address that signed the message; an unknown address gets a new user. A message is accepted
 * once. Throws web3_provider_disabled, web3_unsupported_chain, validation_failed, invalid_grant, signup_disabled,
 * user_banned and HookError.
 */
export async function signInWithWallet(
  app: FastifyInstance,
  signed: SignedMessage,
  context: WalletContext,
  now: Date,
): Promise<Session> {
  const { aud, ip } = context
  const verified = await verifyMessage(app, signed, now)
  const external = await toExternalUser(app.db, verified)
  const permit = await permitExternalUser(app, app.db, external, {}, { aud, ip })
  const outcome = await app.db
    .transaction()
    .execute((trx) => createWalletSession(app, trx, verified, { ...context, permit }, now))
  if (outcome.state === 'rejected') throw outcome.error
  return toTokenResponse(app, outcome.opened, now)
}

async function createWalletSession(
  app: FastifyInstance,
  trx: Trx,
  verified: VerifiedMessage,
  { clientInfo, ...context }: WalletContext & { permit: CreationPermit | undefined },
  now: Date,
) {
  await lockIdentity(trx, provider, identityId(verified).toLowerCase())
  if (!(await consumeOnce(trx, computeDigest(verified), verified.usableUntil))) {
    throw walletRejected('The message was already used. Sign a new one.')
  }
  const external = await toExternalUser(trx, verified)
  const found = await completeExternalSignIn(app, trx, external, {}, context, now)
  if (found.state === 'rejected') return found
  const { user, action } = found
  const entry = createAuditEntry(app.audit, action, user, context.ip, toAuditTraits(verified))
  const event = { method: 'web3' as const, clientInfo, audit: entry }
  const opened = await createSession(app, trx, user, event, now)
  return { state: 'opened' as const, opened }
}

/** The profile, as from an external provider. A known address keeps its first spelling. */
async function toExternalUser(
  db: FastifyInstance['db'],
  verified: VerifiedMessage,
): Promise<ExternalUser> {
  const { chain, message } = verified
  const id = identityId(verified)
  const known = chain.anyCase ? await findWalletIdentity(db, id) : undefined
  const providerId = known ?? id
  const { address, domain, statement = chain.noStatement, chainId: network = '' } = message
  const claims = {
    sub: providerId,
    email_verified: false,
    phone_verified: false,
    custom_claims: { address, chain: chain.name, network, domain, statement },
  }
  return { provider, identity: { providerId, claims, emails: [] }, emailOptional: true }
}

function identityId({ chain, message }: VerifiedMessage): string {
  return `${provider}:${chain.name}:${message.address}`
}

/** Hashes the text, because some wallets create a different signature each time. */
function computeDigest({ chain, text }: VerifiedMessage): string {
  const digest = createHash('sha256').update(text).digest('base64url')
  return `${provider}:${chain.name}:${digest}`
}

function toAuditTraits({ chain, message }: VerifiedMessage) {
  const { address, domain, uri, chainId: network = '' } = message
  return { provider, chain: chain.name, network, address, domain, uri: uri.href }
}
