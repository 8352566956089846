/** Adding a factor: the API enrolls it, and it counts when the first challenge is answered. */
import type { Action, Outcome, Visit } from '../../../../modules/account/index.ts'
import { type ApiResponse, jsonIn, textIn } from '../../../../modules/pages/index.ts'
import { ApiError } from '../../../../schemas/errors.ts'
import { isRecord } from '../../../../schemas/values/record.ts'

interface Step {
  factor: string
  challenge?: string | undefined
}

/** The actions of the page at this path. */
export function enrolment(path: string): Readonly<Record<string, Action>> {
  return {
    async add_totp(visit, { name }) {
      const payload = { factor_type: 'totp', friendly_name: name?.trim() }
      const { body } = await visit.call({ url: '/factors', payload })
      const totp = { body: isRecord(body.totp) ? body.totp : {} }
      const shown = { qr: textIn(totp, 'qr_code'), secret: textIn(totp, 'secret') }
      return showCode(visit, { factor: textIn({ body }, 'id') ?? '' }, shown)
    },

    async add_phone(visit, { name, phone }) {
      const payload = { factor_type: 'phone', friendly_name: name?.trim(), phone }
      const enrolled = await visit.call({ url: '/factors', payload })
      const factor = textIn(enrolled, 'id') ?? ''
      const challenge = textIn(await startChallenge(visit, factor), 'id')
      return showCode(visit, { factor, challenge }, { phone })
    },

    async add_key(visit, { name }) {
      const payload = { factor_type: 'webauthn', friendly_name: name?.trim() }
      const factor = textIn(await visit.call({ url: '/factors', payload }), 'id') ?? ''
      const { body } = await startChallenge(visit, factor)
      const given = isRecord(body.webauthn) ? body.webauthn.credential_options : undefined
      const options = isRecord(given) ? given.publicKey : undefined
      return visit.show(
        'account/key',
        {
          title: 'add_key',
          data: () => ({ factor, options: JSON.stringify({ options, challenge_id: body.id }) }),
        },
        {},
      )
    },

    /** A code of an app needs no challenge before it is typed. */
    async verify(visit, fields) {
      const { factor_id: factor = '', code = '', challenge_id: sent } = fields
      const challenge = sent || textIn(await startChallenge(visit, factor), 'id')
      const payload = { challenge_id: challenge, code: code.trim() }
      return complete({ visit, path, factor }, payload, () =>
        showCode(visit, { factor, challenge: sent }, {}, { error: 'wrong_code' }),
      )
    },

    register(visit, { factor_id: factor = '', challenge_id, credential }) {
      const webauthn = { credential_response: jsonIn(credential) }
      return complete({ visit, path, factor }, { challenge_id, webauthn })
    },
  }
}

interface Enrolment {
  visit: Visit
  /** The page that the user returns to. */
  path: string
  factor: string
}

/** Sends the response to the challenge. `again` shows the form once more after a wrong code. */
async function complete(
  { visit, path, factor }: Enrolment,
  payload: object,
  again?: () => ReturnType<Action>,
) {
  try {
    const url = `/factors/${encodeURIComponent(factor)}/verify`
    await visit.call({ url, payload })
  } catch (error) {
    const isWrong = error instanceof ApiError && error.errorCode === 'mfa_verification_failed'
    if (again && isWrong) return again()
    throw error
  }
  return visit.leave(path, 'saved')
}

function startChallenge(visit: Visit, factor: string): Promise<ApiResponse> {
  return visit.call({ url: `/factors/${encodeURIComponent(factor)}/challenge`, payload: {} })
}

interface Shown {
  /** SVG that the server has made: the template does not escape it. */
  qr?: string | undefined
  secret?: string | undefined
  phone?: string | undefined
}

async function showCode(
  visit: Visit,
  { factor, challenge }: Step,
  { qr = '', secret = '', phone = '' }: Shown,
  outcome: Outcome = {},
) {
  const title = challenge ? 'add_phone' : 'add_app'
  const data = () => ({ factor, challenge, qr, secret, phone })
  return visit.show('account/code', { title, data }, outcome)
}
