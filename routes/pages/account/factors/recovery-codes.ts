/** Recovery codes, which are shown once. */
import type { FastifyInstance } from 'fastify'

import type { Action, Visit } from '../../../../modules/account/index.ts'
import { accessTokenFor } from '../../../../modules/page-session/index.ts'
import { callApi } from '../../../../modules/pages/index.ts'

export function addRecoveryCodePages(app: FastifyInstance, path: string) {
  const isOn = app.config.AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED
  const url = '/factors/recovery-codes'

  const actions: Record<string, Action> = {
    async make_codes(visit) {
      const { body } = await visit.call({ url: '/factors/recovery_codes' })
      return visit.show(
        'account/recovery-codes',
        { title: 'recovery_codes', data: () => ({ codes: body.codes }) },
        {},
      )
    },
    async remove_codes(visit) {
      await visit.call({ method: 'DELETE', url })
      return visit.leave(path, 'saved')
    },
  }

  /** Undefined where codes cannot be created: they need another factor. */
  async function statusFor({ user, request, signedIn, now }: Visit) {
    const hasFactor = (user.factors ?? []).some(({ status }) => status === 'verified')
    if (!isOn || !hasFactor) return undefined
    const token = await accessTokenFor(app, signedIn, now)
    const { status, body } = await callApi(app, request, { method: 'GET', url, token })
    if (status !== 200) return { total: 0, remaining: 0 }
    return { total: Number(body.total), remaining: Number(body.remaining) }
  }

  return { actions, statusFor }
}
