/** What signed-in people may change about themselves. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { editUser } from '../../db/user-edits.ts'
import type { Metadata, UserRecord } from '../../db/users.ts'
import {
  insufficientAal,
  notAdmin,
  sessionImpersonated,
  ssoManaged,
  validationFailed,
} from '../../errors.ts'
import type { Bearer } from '../bearer-auth.ts'

declare module 'fastify' {
  interface FastifyInstance {
    userChanges: ReturnType<typeof createUserChanges>
  }
}

/** What the person asks for; an address that is already theirs is not asked for. */
export interface UserWish {
  email: string | undefined
  phone: string | undefined
  password: string | undefined
  nonce: string | undefined
  data: Metadata | undefined
  app_metadata: Metadata | undefined
}

interface UserChangeDeps {
  adminRoles: readonly string[]
  audit: FastifyInstance['audit']
}

export function createUserChanges({ adminRoles, audit }: UserChangeDeps) {
  return {
    /**
     * Throws not_admin, session_impersonated, insufficient_aal, validation_failed or user_sso_managed for what is not
     * theirs to change.
     */
    check({ user, claims, session }: Bearer, wish: UserWish): void {
      const { email, phone, password, nonce } = wish
      if (wish.app_metadata && !adminRoles.includes(claims.role ?? '')) throw notAdmin()
      const touchesSignIn = [email, phone, password].some((value) => value !== undefined)
      if ((touchesSignIn || wish.app_metadata) && 'act' in claims) throw sessionImpersonated()
      const hasFactor = user.factors.some(({ status }) => status === 'verified')
      if (touchesSignIn && hasFactor && session?.aal !== 'aal2') {
        throw insufficientAal('AAL2 session is required to update email, phone or password.')
      }
      if (user.is_anonymous && password !== undefined && !email && !phone) {
        throw validationFailed(
          'Updating password of an anonymous user without an email or phone is not allowed',
          422,
        )
      }
      if (user.is_sso_user && (touchesSignIn || nonce)) throw ssoManaged()
    },

    /** Merges the metadata and records the change, in one statement. Returns the person as they are then. */
    async put(
      db: Db | Trx,
      user: UserRecord,
      { data, app_metadata }: UserWish,
      { ip, now }: { ip: string; now: Date },
    ): Promise<UserRecord> {
      const entry = audit.entry('user_modified', user, ip)
      const row = await editUser(db, user.id, { user: data, app: app_metadata }, entry, now)
      return { ...user, ...row }
    },
  }
}

async function userChanges(fastify: FastifyInstance) {
  const { config, audit } = fastify
  const adminRoles = config.AUTH_JWT_ADMIN_ROLES
  fastify.decorate('userChanges', createUserChanges({ adminRoles, audit }))
}

export default fp(userChanges, {
  name: 'user-changes',
  fastify: '5.x',
  dependencies: ['config', 'audit'],
})
