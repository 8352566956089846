/** Finds, links or makes the account of an external identity. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import {
  type IdentityRow,
  recomputeProviders,
  replaceIdentityData,
} from '../../../db/identities.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { findUser, insertUser, lockUser } from '../../../db/users.ts'
import {
  providerEmailNeedsVerification,
  signupDisabled,
  unexpectedFailure,
  userNotFound,
} from '../../../errors.ts'
import type { Identity } from '../../oauth-providers.ts'
import type { Arrival, ExternalPerson, SignInContext } from '../external-sign-ins.ts'
import type { Addresses } from './addresses.ts'
import { decide, defaultDomain } from './decide.ts'
import { addIdentity, traitsOf } from './identity.ts'

interface AccountDeps {
  aud: string
  defaultRole: string
  signupDisabled: boolean
  domainOf: (provider: string) => string
  audit: FastifyInstance['audit']
}

export function createAccounts(deps: AccountDeps) {
  const { aud, domainOf, audit } = deps

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

  return {
    /**
     * 'owned' for an unproven address of somebody else, undefined when another request has just registered it.
     * Throws signup_disabled, provider_email_needs_verification, unexpected_failure for several accounts.
     */
    async find(
      trx: Trx,
      person: ExternalPerson,
      addresses: Addresses,
      context: SignInContext,
      now: Date,
    ): Promise<Arrival | 'owned' | undefined> {
      const { provider, identity } = person
      const question = { provider, providerId: identity.providerId, addresses, aud, domainOf }
      const decision = await decide(trx, question)
      switch (decision.state) {
        case 'exists':
          return refresh(trx, decision.identity, identity.claims, now)
        case 'link':
          return link(trx, decision.userId, person, context, now)
        case 'create':
          return create(trx, person, addresses, now)
        case 'owned':
          return 'owned'
        case 'several':
          throw unexpectedFailure('The addresses of this identity belong to several accounts')
      }
    },
  }
}

/** The identity and the metadata follow the provider; the address of the account stays. */
async function refresh(trx: Trx, identity: IdentityRow, claims: Identity['claims'], now: Date) {
  await lockUser(trx, identity.user_id)
  await replaceIdentityData(trx, identity.id, claims, now)
  await mergeMetadata(trx, identity.user_id, { user: claims }, now)
  await recomputeProviders(trx, identity.user_id, now)
  return arrival(trx, { ...identity, identity_data: claims }, false)
}

async function arrival(trx: Trx, identity: IdentityRow, isNew: boolean): Promise<Arrival> {
  const user = await findUser(trx, identity.user_id)
  if (!user) throw userNotFound()
  return { user, identity, isNew }
}
