/** The calls of single hooks: their input, and what is read from the response. */
import { TypeCompiler } from '@sinclair/typebox/compiler'

import { type AccessToken, HookClaims } from '../../../schemas/access-token.ts'
import { hookResponseInvalid } from '../../../schemas/errors.ts'
import type { User } from '../../../schemas/user.ts'
import type { HookCaller } from './caller.ts'

interface ClaimsHookInput {
  claims: AccessToken
  /** The authentication method of the session; `token_refresh` when it is refreshed. */
  method: string
  ip: string | null
}

const claimsCheck = TypeCompiler.Compile(HookClaims)

/**
 * CUSTOM_ACCESS_TOKEN, which adds the operator's claims to every user token. Resolves to its claims, which replace ours except two: `iss`, without which this server would reject its own
 * token, and `act`, without which an impersonating admin could not be distinguished from the user. Throws HookError.
 */
export function customizeAccessToken(call: HookCaller) {
  return async ({ claims, method, ip }: ClaimsHookInput): Promise<HookClaims> => {
    const question = { user_id: claims.sub, claims, authentication_method: method }
    const { claims: changed } = await call(question, { ip })
    if (changed === undefined || changed === null) {
      throw hookResponseInvalid('The custom access token hook returned no claims')
    }
    if (!claimsCheck.Check(changed)) throw findInvalidClaim(changed)
    if (changed.iss !== undefined && changed.iss !== claims.iss) throw foreignIssuer()
    return { ...changed, iss: claims.iss, ...(claims.act && { act: claims.act }) }
  }
}

const foreignIssuer = () =>
  hookResponseInvalid(
    'The custom access token hook returned another iss: set AUTH_JWT_ISSUER instead',
  )

function findInvalidClaim(claims: unknown) {
  const path = claimsCheck.Errors(claims).First()?.path.slice(1).replaceAll('/', '.')
  const what = path ? `without the claim ${path}, or with one of the wrong type` : 'without claims'
  return hookResponseInvalid(`The custom access token hook returned claims ${what}`)
}

interface HookSms {
  otp: string
  /** E.164 digits without the plus sign. */
  phone: string
  /** Present for factor codes only. */
  sms_type?: 'mfa'
}

/** The contents of the email; fields that do not apply are empty. */
export interface HookEmail {
  token: string
  token_hash: string
  redirect_to: string
  email_action_type: string
  site_url: string
  token_new: string
  token_hash_new: string
  old_email: string
  old_phone: string
  provider: string
  factor_type: string
  /** Of a sign-in from a new device; GoTrue has no such email. */
  device?: string
  ip_address?: string
  signed_in_at?: string
  end_session_url?: string
}

interface SentFor {
  user: User
  /** Of the message, and the same for every attempt to send it. */
  uuid: string
}

/** SEND_SMS, which replaces the SMS provider. Throws HookError. */
export function createSmsSender(call: HookCaller) {
  return async ({ user, uuid }: SentFor, sms: HookSms): Promise<void> => {
    await call({ user, sms }, { ip: null, uuid })
  }
}

/** SEND_EMAIL, which replaces the mail server. Throws HookError. */
export function sendEmail(call: HookCaller) {
  return async ({ user, uuid }: SentFor, email_data: HookEmail): Promise<void> => {
    await call({ user, email_data }, { ip: null, uuid })
  }
}

export interface JoinHookInput {
  organization: { id: string; slug: string; name: string }
  /** The id is null for a user who is created by the same sign-in. */
  user: { id: string | null; email: string | null }
  role: string
  joined_by: string
}

/** BEFORE_ORGANIZATION_JOIN, which decides whether the user may become a member. Throws HookError when not. */
export function beforeOrganizationJoin(call: HookCaller) {
  return async (question: JoinHookInput, ip: string): Promise<void> => {
    await call(question, { ip })
  }
}
