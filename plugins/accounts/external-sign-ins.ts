/**
 * From who came back from a provider to an account of ours: the one that has the identity, the one whose address the
 * provider has proven, or a new one. An address that nobody proved never opens or takes over anything.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import {
  findIdentity,
  type IdentityRow,
  lockIdentity,
  recomputeProviders,
  replaceIdentityData,
} from '../../db/identities.ts'
import { findUser, insertUser, lockUser, mergeMetadata, type UserRecord } from '../../db/users.ts'
import {
  type ApiError,
  identityAlreadyExists,
  providerEmailNeedsVerification,
  signupDisabled,
  unexpectedFailure,
  userBanned,
  userNotFound,
} from '../../errors.ts'
import type { Identity } from '../oauth-providers.ts'
import { type Addresses, readAddresses } from './external-sign-ins/addresses.ts'
import { createAdmission } from './external-sign-ins/admission.ts'
import { decide, defaultDomain } from './external-sign-ins/decide.ts'
import { addIdentity, linkedElsewhere, traitsOf } from './external-sign-ins/identity.ts'
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

/** What the audit trail calls it; that an identity was linked has its own entry by then. */
export type ArrivalAction = 'login' | 'user_signedup' | 'invite_accepted' | 'identity_linked'

export type SignInOutcome =
  | { state: 'accepted'; user: UserRecord; action: ArrivalAction }
  /** Throw the error after the commit: what was written is to stay. */
  | { state: 'refused'; error: ApiError }

/** A person with the identity they came by. */
export interface Arrival {
  user: UserRecord
  identity: IdentityRow
  isNew: boolean
}

interface ExternalSignInDeps {
  aud: string
  defaultRole: string
  signupDisabled: boolean
  /** Addresses are taken as proven. */
  autoconfirm: boolean
  domainOf: (provider: string) => string
  admission: ReturnType<typeof createAdmission>
  audit: FastifyInstance['audit']
}

export function createExternalSignIns(deps: ExternalSignInDeps) {
  const { aud, autoconfirm, domainOf, admission, audit } = deps

  /** The existing identity follows the provider; the address of the account stays. */
  async function refresh(trx: Trx, identity: IdentityRow, claims: Identity['claims'], now: Date) {
    await lockUser(trx, identity.user_id)
    await replaceIdentityData(trx, identity.id, claims, now)
    await mergeMetadata(trx, identity.user_id, { user: claims }, now)
    await recomputeProviders(trx, identity.user_id, now)
    return arrival(trx, { ...identity, identity_data: claims }, false)
  }

  async function link(
    trx: Trx,
    userId: string,
    person: ExternalPerson,
    { ip }: SignInContext,
    now: Date,
  ): Promise<Arrival> {
    await lockUser(trx, userId)
    const identity = await addIdentity(trx, userId, person, now)
    await mergeMetadata(trx, userId, { user: person.identity.claims }, now)
    await recomputeProviders(trx, userId, now)
    const linked = await arrival(trx, identity, false)
    await audit.record(trx, 'identity_linked', linked.user, { ip, now, traits: traitsOf(identity) })
    return linked
  }

  /** Undefined when another request has just registered the address. */
  async function create(
    trx: Trx,
    person: ExternalPerson,
    { primary }: Addresses,
    now: Date,
  ): Promise<Arrival | undefined> {
    const { provider, identity } = person
    if (deps.signupDisabled) throw signupDisabled()
    if (primary === null && !person.emailOptional) throw providerEmailNeedsVerification()
    const user = {
      ...{ id: crypto.randomUUID(), aud, role: deps.defaultRole, email: primary, phone: null },
      encrypted_password: null,
      raw_app_meta_data: { provider, providers: [provider] },
      raw_user_meta_data: identity.claims,
      is_anonymous: false,
      is_sso_user: domainOf(provider) !== defaultDomain,
    }
    if (!(await insertUser(trx, user, now))) return undefined
    return arrival(trx, await addIdentity(trx, user.id, person, now), true)
  }

  async function find(
    trx: Trx,
    person: ExternalPerson,
    addresses: Addresses,
    context: SignInContext,
    now: Date,
  ): Promise<Arrival | 'owned' | undefined> {
    const { provider, identity } = person
    const question = { provider, providerId: identity.providerId, addresses, aud, domainOf }
    const decision = await decide(trx, question)
    if (decision.state === 'owned') return 'owned'
    if (decision.state === 'several') {
      throw unexpectedFailure('The addresses of this identity belong to several accounts')
    }
    if (decision.state === 'exists') return refresh(trx, decision.identity, identity.claims, now)
    if (decision.state === 'link') return link(trx, decision.userId, person, context, now)
    return create(trx, person, addresses, now)
  }

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
        (await find(trx, person, addresses, context, now)) ??
        (await find(trx, person, addresses, context, now))
      if (!found) throw unexpectedFailure('The address of this identity was taken meanwhile')
      if (found === 'owned') return admission.refuseOwned(trx, addresses.primary ?? '', now)
      checkState(found.user, now)
      return admission.admit(trx, found, { person, addresses, context }, now)
    },

    /** By an invitation, whose token proves the address, whatever the provider knows of it. */
    async acceptInvitation(
      trx: Trx,
      token: string,
      person: ExternalPerson,
      _context: SignInContext,
      now: Date,
    ): Promise<SignInOutcome> {
      const { provider, identity: told } = person
      await lockIdentity(trx, provider, told.providerId)
      const invited = await admission.takeInvitation(trx, token, told, now)
      checkState(invited, now)
      const existing = await findIdentity(trx, provider, told.providerId)
      if (existing && existing.user_id !== invited.id) throw identityAlreadyExists(linkedElsewhere)
      if (existing) await replaceIdentityData(trx, existing.id, told.claims, now)
      const identity = existing ?? (await addIdentity(trx, invited.id, person, now))
      const row = { ...identity, identity_data: told.claims }
      await recomputeProviders(trx, invited.id, now)
      return admission.welcome(trx, { user: invited, identity: row, isNew: false }, now)
    },
  }
}

function checkState({ deleted_at, banned_until }: UserRecord, now: Date) {
  if (deleted_at) throw userNotFound()
  if (banned_until && banned_until > now) throw userBanned(403)
}

async function arrival(trx: Trx, identity: IdentityRow, isNew: boolean): Promise<Arrival> {
  const user = await findUser(trx, identity.user_id)
  if (!user) throw userNotFound()
  return { user, identity, isNew }
}

async function externalSignIns(fastify: FastifyInstance) {
  const { config, audit, letters, oneTimeTokens, recipients, sendLimits } = fastify
  const autoconfirm = config.AUTH_MAILER_AUTOCONFIRM
  const own = config.AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN
  const domains = config.AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS
  const admission = createAdmission({
    ...{ letters, oneTimeTokens, recipients, sendLimits },
    ...{ autoconfirm, aud: config.AUTH_JWT_AUD },
    allowsUnverified: config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS,
  })
  const decorator = createExternalSignIns({
    ...{ admission, audit, autoconfirm, aud: config.AUTH_JWT_AUD },
    defaultRole: config.AUTH_JWT_DEFAULT_GROUP_NAME,
    signupDisabled: config.AUTH_DISABLE_SIGNUP,
    domainOf: (provider) =>
      domains[provider] ?? (own.includes(provider) ? provider : defaultDomain),
  })
  fastify.decorate('externalSignIns', decorator)
}

export default fp(externalSignIns, {
  name: 'external-sign-ins',
  fastify: '5.x',
  dependencies: ['config', 'audit', 'letters', 'one-time-tokens', 'recipients', 'send-limits'],
})
