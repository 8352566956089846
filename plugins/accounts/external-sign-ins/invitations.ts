/** An invitation that is taken up by signing in with a provider. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import { findIdentity, recomputeProviders, replaceIdentityData } from '../../../db/identities.ts'
import { findUser, lockUser, type UserRecord } from '../../../db/users.ts'
import { identityAlreadyExists, inviteNotFound, validationFailed } from '../../../errors.ts'
import type { Identity } from '../../oauth-providers.ts'
import type { Arrival, ExternalPerson } from '../external-sign-ins.ts'
import { readAddresses } from './addresses.ts'
import { addIdentity, linkedElsewhere } from './identity.ts'
import { purge } from './purge.ts'

interface InvitationDeps {
  oneTimeTokens: Pick<FastifyInstance['oneTimeTokens'], 'takeLink'>
}

export function createInvitations({ oneTimeTokens }: InvitationDeps) {
  return {
    /** Spends the invitation and returns the person, locked. Throws invite_not_found, validation_failed. */
    async take(trx: Trx, token: string, told: Identity, now: Date): Promise<UserRecord> {
      const invitation = await oneTimeTokens.takeLink(trx, ['confirmation_token'], token, now)
      if (!invitation) throw inviteNotFound()
      await lockUser(trx, invitation.user_id)
      const user = await findUser(trx, invitation.user_id)
      if (!user) throw inviteNotFound()
      const { primary, verified } = readAddresses(told, true)
      if (user.email && [primary, ...verified].includes(user.email)) return user
      throw validationFailed('The invitation was sent to another address than the provider tells')
    },

    /** Gives the identity to the person, who loses what was there before. Throws identity_already_exists. */
    async accept(trx: Trx, user: UserRecord, person: ExternalPerson, now: Date): Promise<Arrival> {
      const { provider, identity: told } = person
      const existing = await findIdentity(trx, provider, told.providerId)
      if (existing && existing.user_id !== user.id) throw identityAlreadyExists(linkedElsewhere)
      if (existing) await replaceIdentityData(trx, existing.id, told.claims, now)
      const row = existing ?? (await addIdentity(trx, user.id, person, now))
      const identity = { ...row, identity_data: told.claims }
      if (!user.email_confirmed_at) await purge(trx, user, identity, now)
      await recomputeProviders(trx, user.id, now)
      return { user, identity, isNew: false }
    },
  }
}
