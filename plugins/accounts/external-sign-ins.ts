/**
 * From who came back from a provider to an account of ours: the one that has the identity, the one whose address the
 * provider has proven, or a new one. An address that nobody proved never opens or takes over anything.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { type IdentityRow, lockIdentity } from '../../db/identities.ts'
import type { UserRecord } from '../../db/users.ts'
import { type ApiError, unexpectedFailure, userBanned, userNotFound } from '../../errors.ts'
import type { Identity } from '../oauth-providers.ts'
import { createAccounts } from './external-sign-ins/accounts.ts'
import { readAddresses } from './external-sign-ins/addresses.ts'
import { createAdmission } from './external-sign-ins/admission.ts'
import { createConfirmationMail } from './external-sign-ins/confirmation-mail.ts'
import { defaultDomain } from './external-sign-ins/decide.ts'
import { createInvitations } from './external-sign-ins/invitations.ts'
import type { LinkContext } from './links.ts'

declare module 'fastify' {
  interface FastifyInstance {
    externalSignIns: ReturnType<typeof createExternalSignIns>
  }
}

/** Who came back, and from where. */
export interface ExternalPerson {
  provider: string
  identity: Identity
  /** Whether this provider lets people in of whom it tells no address. */
  emailOptional: boolean
}

export interface SignInContext {
  ip: string
  /** For the mail that asks for the proof the provider did not give. */
  links: LinkContext
}

/** A person with the identity they came by. */
export interface Arrival {
  user: UserRecord
  identity: IdentityRow
  isNew: boolean
}

/** What the audit trail calls it; that an identity was linked has its own entry by then. */
export type ArrivalAction = 'login' | 'user_signedup' | 'invite_accepted' | 'identity_linked'

export type SignInOutcome =
  | { state: 'accepted'; user: UserRecord; action: ArrivalAction }
  /** Throw the error after the commit: what was written is to stay. */
  | { state: 'refused'; error: ApiError }

interface ExternalSignInDeps {
  /** Addresses are taken as proven. */
  autoconfirm: boolean
  accounts: ReturnType<typeof createAccounts>
  admission: ReturnType<typeof createAdmission>
  invitations: ReturnType<typeof createInvitations>
}

export function createExternalSignIns(deps: ExternalSignInDeps) {
  const { autoconfirm, accounts, admission, invitations } = deps

  return {
    /** Throws unexpected_failure when the provider told no address and has to. */
    requireAddress({ identity, emailOptional }: ExternalPerson): void {
      if (emailOptional || readAddresses(identity, autoconfirm).primary !== null) return
      throw unexpectedFailure('The provider told no usable email address of this person')
    },

    /**
     * Finds or makes the account. Throws signup_disabled, user_banned, over_email_send_rate_limit and, for addresses of
     * several accounts, unexpected_failure.
     */
    async signIn(
      trx: Trx,
      person: ExternalPerson,
      context: SignInContext,
      now: Date,
    ): Promise<SignInOutcome> {
      await lockIdentity(trx, person.provider, person.identity.providerId)
      const addresses = readAddresses(person.identity, autoconfirm)
      // A second look when the address was registered between the look-up and the insertion.
      const found =
        (await accounts.find(trx, person, addresses, context, now)) ??
        (await accounts.find(trx, person, addresses, context, now))
      if (!found) throw unexpectedFailure('The address of this identity was taken meanwhile')
      if (found === 'owned') return admission.refuseOwned(trx, addresses.primary ?? '', now)
      checkState(found.user, now)
      return admission.admit(trx, found, { person, addresses, context }, now)
    },

    /**
     * By an invitation, whose token proves the address, whatever the provider knows of it. Throws invite_not_found,
     * identity_already_exists, user_banned, validation_failed for another address.
     */
    async acceptInvitation(
      trx: Trx,
      token: string,
      person: ExternalPerson,
      now: Date,
    ): Promise<SignInOutcome> {
      await lockIdentity(trx, person.provider, person.identity.providerId)
      const invited = await invitations.take(trx, token, person.identity, now)
      checkState(invited, now)
      const arrived = await invitations.accept(trx, invited, person, now)
      return admission.confirm(trx, arrived, 'invite_accepted', now)
    },
  }
}

function checkState({ deleted_at, banned_until }: UserRecord, now: Date) {
  if (deleted_at) throw userNotFound()
  if (banned_until && banned_until > now) throw userBanned(403)
}

async function externalSignIns(fastify: FastifyInstance) {
  const { config, audit, letters, oneTimeTokens, recipients, sendLimits } = fastify
  const autoconfirm = config.AUTH_MAILER_AUTOCONFIRM
  const aud = config.AUTH_JWT_AUD
  const own = config.AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN
  const domains = config.AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS
  const accounts = createAccounts({
    ...{ aud, audit, defaultRole: config.AUTH_JWT_DEFAULT_GROUP_NAME },
    signupDisabled: config.AUTH_DISABLE_SIGNUP,
    // An organisation's own people are never matched with anybody else's.
    domainOf: (provider) =>
      domains[provider] ??
      (own.includes(provider) || provider.startsWith('sso:') ? provider : defaultDomain),
  })
  const admission = createAdmission({
    ...{ aud, autoconfirm },
    allowsUnverified: config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS,
    confirmationMail: createConfirmationMail({ letters, recipients, sendLimits }),
  })
  const invitations = createInvitations({ oneTimeTokens })
  const decorator = createExternalSignIns({ autoconfirm, accounts, admission, invitations })
  fastify.decorate('externalSignIns', decorator)
}

export default fp(externalSignIns, {
  name: 'external-sign-ins',
  fastify: '5.x',
  dependencies: ['config', 'audit', 'letters', 'one-time-tokens', 'recipients', 'send-limits'],
})
