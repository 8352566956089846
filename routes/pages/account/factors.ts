import type { FastifyInstance } from 'fastify'

import {
  type AccountPage,
  type AccountTextName,
  type Action,
  addAccountPage,
  formatTime,
  type Outcome,
  type Visit,
} from '../../../modules/account/index.ts'
import { accessTokenFor } from '../../../modules/page-session/index.ts'
import {
  type ApiResponse,
  callApi,
  jsonIn,
  readNext,
  sendToNext,
  textIn,
} from '../../../modules/pages/index.ts'
import { isErrorWithCode } from '../../../schemas/errors.ts'
import { isRecord } from '../../../schemas/values/record.ts'

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

  const show: AccountPage['show'] = async (visit, outcome, { name = '', phone = '', next }) => {
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
          returnTo: readNext(next),
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
      ...enrollment(app, path),
      ...codes.actions,
      async remove(visit, { factor_id: id = '' }) {
        await visit.call({ method: 'DELETE', url: '/factors/:id', params: { id } })
        return visit.leave(path, 'saved')
      },
    },
  }
}

/** The last one stays while there are recovery codes, which are no factor by themselves. */
function listFactors({ user }: Visit, tag: string) {
  const verified = (user.factors ?? []).filter(({ status }) => status === 'verified')
  const shown = verified.filter(({ factor_type: type }) => Object.hasOwn(labels, type))
  const isKept = shown.length === 1 && shown.length < verified.length
  return shown.map(({ id, factor_type: type, friendly_name, phone, created_at }) => ({
    id,
    type,
    name: friendly_name ?? '',
    phone,
    isKept,
    added: formatTime(tag, created_at),
  }))
}

/** Recovery codes, which are shown once. */
function addRecoveryCodePages(app: FastifyInstance, path: string) {
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

// Adding a factor: the API enrolls it, and it becomes active when the first challenge is verified.

interface Step {
  factor: string
  challenge?: string | undefined
  /** Where the user goes on, if the factor was needed there. */
  next: string | undefined
}

/** The actions of the page at this path. */
function enrollment(app: FastifyInstance, path: string): Readonly<Record<string, Action>> {
  return {
    async add_totp(visit, { name, next }) {
      const payload = { factor_type: 'totp', friendly_name: name?.trim() }
      const { body } = await visit.call({ url: '/factors', payload })
      const totp = { body: isRecord(body.totp) ? body.totp : {} }
      const shown = { qr: textIn(totp, 'qr_code'), secret: textIn(totp, 'secret') }
      return showCode(visit, { factor: textIn({ body }, 'id') ?? '', next }, shown)
    },

    async add_phone(visit, { name, phone, next }) {
      const payload = { factor_type: 'phone', friendly_name: name?.trim(), phone }
      const enrolled = await visit.call({ url: '/factors', payload })
      const factor = textIn(enrolled, 'id') ?? ''
      const challenge = textIn(await startChallenge(visit, factor), 'id')
      return showCode(visit, { factor, challenge, next }, { phone })
    },

    async add_key(visit, { name, next }) {
      const payload = { factor_type: 'webauthn', friendly_name: name?.trim() }
      const factor = textIn(await visit.call({ url: '/factors', payload }), 'id') ?? ''
      const { body } = await startChallenge(visit, factor)
      const given = isRecord(body.webauthn) ? body.webauthn.credential_options : undefined
      const options = isRecord(given) ? given.publicKey : undefined
      return visit.show(
        'account/key',
        {
          title: 'add_key',
          data: () => ({
            factor,
            options: JSON.stringify({ options, challenge_id: body.id }),
            returnTo: readNext(next),
          }),
        },
        {},
      )
    },

    /** A code of an authenticator app needs no challenge before it is typed. */
    async verify(visit, fields) {
      const { factor_id: factor = '', code = '', challenge_id: sent, next } = fields
      const challenge = sent || textIn(await startChallenge(visit, factor), 'id')
      const payload = { challenge_id: challenge, code: code.trim() }
      return complete(app, { visit, path, factor, next }, payload, () =>
        showCode(visit, { factor, challenge: sent, next }, {}, { error: 'wrong_code' }),
      )
    },

    register(visit, { factor_id: factor = '', challenge_id, credential, next }) {
      const webauthn = { credential_response: jsonIn(credential) }
      return complete(app, { visit, path, factor, next }, { challenge_id, webauthn })
    },
  }
}

interface Enrollment {
  visit: Visit
  /** The page that the user returns to. */
  path: string
  factor: string
  next: string | undefined
}

/** Sends the response to the challenge. `again` shows the form again after a wrong code. */
async function complete(
  app: FastifyInstance,
  { visit, path, factor, next: requestedNext }: Enrollment,
  payload: object,
  again?: () => ReturnType<Action>,
) {
  try {
    await visit.call({ url: '/factors/:id/verify', params: { id: factor }, payload })
  } catch (error) {
    const isWrong = isErrorWithCode(error, 'mfa_verification_failed')
    if (again && isWrong) return again()
    throw error
  }
  const next = readNext(requestedNext)
  return next ? sendToNext(app, visit.request, visit.reply, next) : visit.leave(path, 'saved')
}

function startChallenge(visit: Visit, factor: string): Promise<ApiResponse> {
  return visit.call({ url: '/factors/:id/challenge', params: { id: factor }, payload: {} })
}

interface Shown {
  /** SVG generated by the server, which the template does not escape. */
  qr?: string | undefined
  secret?: string | undefined
  phone?: string | undefined
}

async function showCode(
  visit: Visit,
  { factor, challenge, next }: Step,
  { qr = '', secret = '', phone = '' }: Shown,
  outcome: Outcome = {},
) {
  const title = challenge ? 'add_phone' : 'add_app'
  const data = () => ({ factor, challenge, qr, secret, phone, returnTo: readNext(next) })
  return visit.show('account/code', { title, data }, outcome)
}

export default addAccountPage(factors)
