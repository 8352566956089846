/** The audit trail of admins: which role did what to whom, from where. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { findUser } from '../../db/users.ts'
import { notAdmin } from '../../errors.ts'
import type { AuditAction } from '../audit.ts'

declare module 'fastify' {
  interface FastifyInstance {
    adminTrail: ReturnType<typeof createAdminTrail>
  }
}

interface Subject {
  id: string
  email: string | null
  phone: string | null
}

export function createAdminTrail(audit: FastifyInstance['audit']) {
  return {
    /** Records what the admin of this request does to a person, in the transaction that does it. */
    async record(
      trx: Trx,
      action: AuditAction,
      { admin, clientIp, client }: FastifyRequest,
      { id, email, phone }: Subject,
      { now, ...more }: { now: Date } & Record<string, unknown>,
    ): Promise<void> {
      if (!admin) throw notAdmin()
      const person = admin.sub ? await findUser(trx, admin.sub) : undefined
      const traits = {
        user_id: id,
        user_email: email ?? '',
        user_phone: phone ?? '',
        user_agent: client.userAgent ?? '',
        ...more,
      }
      const actor = person ?? audit.adminActor(admin.role ?? '')
      await audit.record(trx, action, actor, { ip: clientIp, now, traits })
    },
  }
}

async function adminTrail(fastify: FastifyInstance) {
  fastify.decorate('adminTrail', createAdminTrail(fastify.audit))
}

export default fp(adminTrail, { name: 'admin-trail', fastify: '5.x', dependencies: ['audit'] })
