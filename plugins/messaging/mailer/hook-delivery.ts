/** The SEND_EMAIL hook, which replaces the mail server. */
import { findUser } from '../../../db/users/users.ts'
import type { EmailKind } from '../../../mail/kinds/index.ts'
import { MailTransportError, type SendOutcome } from '../../../mail/transport-error.ts'
import { ApiError, HookError } from '../../../schemas/errors.ts'
import { toUser } from '../../../schemas/user.ts'
import type { Deps } from '../../define-plugin.ts'
import type { HookEmail } from '../../outgoing/hooks/calls.ts'
import type { MailPayload } from './outbox/payload.ts'

export interface HookMail extends MailPayload {
  /** Of the message. */
  id: string
  kind: EmailKind
}

/** Throws MailTransportError. */
export type DeliverByHook = (mail: HookMail) => Promise<string>

type HookDeps = Deps<'config' | 'db' | 'hooks'>

/** Undefined when the hook is disabled. */
export function createHookDelivery(deps: HookDeps): DeliverByHook | undefined {
  const { sendEmail } = deps.hooks
  if (!sendEmail) return undefined
  return async (mail) => {
    const user = await loadHookUser(deps, mail).catch((error) => {
      throw loadingError(error)
    })
    try {
      await sendEmail({ user, uuid: mail.id }, emailData(mail, deps.config.AUTH_API_EXTERNAL_URL))
    } catch (error) {
      throw toTransportError(error)
    }
    return 'taken by the hook'
  }
}

/** The current user; for a deleted one, the data that the email contains. */
async function loadHookUser({ config, db, hooks }: HookDeps, { to, userId, variables }: HookMail) {
  const user = userId ? await findUser(db, userId) : undefined
  if (user) return toUser(user)
  const id = userId ?? crypto.randomUUID()
  const known = { email: to, user_metadata: variables.Data }
  return hooks.unsavedUser({ id, aud: config.AUTH_JWT_AUD, ...known })
}

/** Action names of the hook that differ from the email kind. */
const actions: Partial<Record<EmailKind, string>> = {
  confirmation: 'signup',
  magic_link: 'magiclink',
}

interface Known {
  SiteURL: string
  Token?: string
  TokenHash?: string
  RedirectTo?: string
  OldEmail?: string
  OldPhone?: string
  Provider?: string
  FactorType?: string
  Device?: string
  IPAddress?: string
  SignedInAt?: string
  EndSessionURL?: string
}

/**
 * When both addresses must confirm, each token comes with the hash of the other one. GoTrue does this, and receivers
 * expect it.
 */
function emailData({ kind, variables, second }: HookMail, siteUrl: string): HookEmail {
  const known: Known = variables
  const { Token: token = '', TokenHash: token_hash = '' } = known
  return {
    token: second?.code ?? token,
    token_hash,
    redirect_to: known.RedirectTo ?? '',
    email_action_type: actions[kind] ?? kind,
    site_url: siteUrl,
    token_new: second ? token : '',
    token_hash_new: second?.linkToken ?? '',
    old_email: known.OldEmail ?? '',
    old_phone: known.OldPhone ?? '',
    provider: known.Provider ?? '',
    factor_type: known.FactorType ?? '',
    ...(known.EndSessionURL !== undefined && signInData(known)),
  }
}

function signInData({ Device = '', IPAddress = '', SignedInAt = '', EndSessionURL = '' }: Known) {
  return {
    device: Device,
    ip_address: IPAddress,
    signed_in_at: SignedInAt,
    end_session_url: EndSessionURL,
  }
}

/** An error before the hook was called: the email was not sent. */
function loadingError(error: unknown): MailTransportError {
  return new MailTransportError('temporary', `the send email hook was not called: ${String(error)}`)
}

function toTransportError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const reply = { code: error.status, text: error.message }
  return new MailTransportError(
    toSendOutcome(error),
    'the send email hook did not accept it',
    reply,
  )
}

/** A hook that was called and did not reject may have sent the email, so it is not retried automatically. */
function toSendOutcome(error: ApiError): SendOutcome {
  if (!(error instanceof HookError)) return 'temporary'
  const { kind, status } = error
  if (kind === 'rejected') return status < 500 ? 'permanent' : 'temporary'
  // A timed-out database function was rolled back.
  const isUndone = kind === 'timeout' && status === 500
  const wasReceived = (kind === 'timeout' && !isUndone) || kind === 'invalid_response'
  return wasReceived ? 'ambiguous' : 'temporary'
}
