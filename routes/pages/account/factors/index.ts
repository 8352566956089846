import type { FastifyInstance } from 'fastify'

import {
  type AccountPage,
  type AccountTextName,
  addAccountPage,
  formatTime,
  type Visit,
} from '../../../../modules/account/index.ts'
import { enrollment } from './enroll.ts'
import { addRecoveryCodePages } from './recovery-codes.ts'

const path = '/account/factors'

const labels: Record<string, AccountTextName> = {
  totp: 'factor_app',
  phone: 'factor_sms',
  webauthn: 'factor_usb',
}

/** Second factors and recovery codes. */
function factors(app: FastifyInstance): AccountPage {
  const { config } = app
  const codes = addRecoveryCodePages(app, path)

  const show: AccountPage['show'] = async (visit, outcome, { name = '', phone = '' }) => {
    const status = await codes.statusFor(visit)
    return visit.show(
      'account/factors',
      {
        title: 'factors',
        data: (say, tag) => ({
          factors: listFactors(visit, tag).map(({ type, ...factor }) => ({
            ...factor,
            label: say(labels[type] ?? 'factors'),
          })),
          codes: status,
          typed: { name, phone },
          allows: {
            totp: config.AUTH_MFA_TOTP_ENROLL_ENABLED,
            phone: config.AUTH_MFA_PHONE_ENROLL_ENABLED,
            webauthn: config.AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED,
          },
        }),
      },
      outcome,
    )
  }

  return {
    path,
    summary: 'Second factors and recovery codes of the user',
    show,
    actions: {
      ...enrollment(path),
      ...codes.actions,
      async remove(visit, { factor_id: id = '' }) {
        await visit.call({ method: 'DELETE', url: `/factors/${encodeURIComponent(id)}` })
        return visit.leave(path, 'saved')
      },
    },
  }
}

function listFactors({ user }: Visit, tag: string) {
  const verified = (user.factors ?? []).filter(({ status }) => status === 'verified')
  return verified
    .filter(({ factor_type: type }) => Object.hasOwn(labels, type))
    .map(({ id, factor_type: type, friendly_name, phone, created_at }) => ({
      ...{ id, type, name: friendly_name ?? '', phone },
      added: formatTime(tag, created_at),
    }))
}

export default addAccountPage(factors)
