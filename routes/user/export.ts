import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listFilteredEntries } from '../../db/audit/audit-log-entries.ts'
import type { Db } from '../../db/core/database.ts'
import { findRecoveryCodeSet } from '../../db/factors/recovery-codes.ts'
import { listConsents } from '../../db/oauth-server/consents.ts'
import { findPasskeys } from '../../db/passkeys/credentials.ts'
import { requireFreshProof } from '../../modules/access/index.ts'
import { listSessions } from '../../modules/sessions/index.ts'
import { Device, toDevice } from '../../schemas/device.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { OauthGrant, toGrant } from '../../schemas/oauth/authorization.ts'
import { Passkeys, toPasskey } from '../../schemas/passkey.ts'
import { RemainingCodes } from '../../schemas/recovery-codes.ts'
import { toUser, User } from '../../schemas/user.ts'
import { actingFields } from '../../schemas/values/acting.ts'
import { Timestamp } from '../../schemas/values/timestamp.ts'

const maxActivities = 1000

const Activity = Type.Object({
  at: Timestamp,
  action: Type.String(),
  ip_address: Type.String(),
  ...actingFields,
})

const Export = Type.Object(
  {
    exported_at: Timestamp,
    user: User,
    sessions: Type.Array(Device),
    passkeys: Passkeys,
    recovery_codes: RemainingCodes,
    grants: Type.Array(OauthGrant),
    activity: Type.Array(Activity, {
      description: `The newest ${maxActivities} audit log entries of the user`,
    }),
  },
  { title: 'UserExport' },
)

const userExport: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/user/export',
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Export what is stored about the current user',
        description:
          'Without secrets. Requires a recent authentication, and a session at aal2 from a user with a second factor.',
        tags: ['user'],
        response: { 200: Export, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const auth = bearerAuth.getAuth(request)
      await requireFreshProof(app, db, auth, { change: 'export' }, now)
      const { user, session } = auth
      const [live, keys, codes, grants, activity] = await Promise.all([
        listSessions(app, db, user.id, now),
        findPasskeys(db, user.id),
        findRecoveryCodeSet(db, user.id),
        listConsents(db, user.id),
        findActivity(db, user.id),
      ])
      return {
        exported_at: now.toISOString(),
        user: toUser(user),
        sessions: live.map((each) => toDevice(each, session?.session_id)),
        passkeys: keys.map(toPasskey),
        recovery_codes: { remaining: codes?.remaining ?? 0 },
        grants: grants.map(toGrant),
        activity,
      }
    },
  )
}

async function findActivity(db: Db, userId: string) {
  const none = { search: undefined, action: undefined, from: undefined, to: undefined }
  const filter = { ...none, after: undefined, userId }
  const entries = await listFilteredEntries(db, filter, maxActivities)
  return entries.slice(0, maxActivities).map(({ payload, created_at, ip_address }) => ({
    at: (created_at ?? new Date(0)).toISOString(),
    action: payload?.action ?? '',
    ip_address,
    ...(payload?.actor && { actor: payload.actor }),
    ...(payload?.act && { act: payload.act }),
  }))
}

export default userExport
