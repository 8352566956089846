/** The operator's SEND_EMAIL hook in the place of a mail server. */
import { findUser } from '../../db/users.ts'
import { ApiError, HookError } from '../../errors.ts'
import type { MailKind } from '../../mail/kinds.ts'
import { MailTransportError, type SendOutcome } from '../../mail/transport-error.ts'
import { toUser } from '../../schemas/user.ts'
import type { House } from '../define-plugin.ts'
import type { HookEmail } from '../hooks/messages.ts'
import type { MailPayload } from './outbox/payload.ts'

export interface HookMail extends MailPayload {
  /** Of the message. */
  id: string
  kind: MailKind
}

/** Throws MailTransportError. */
export type DeliverByHook = (mail: HookMail) => Promise<string>

type HookHouse = House<'config' | 'db' | 'hooks'>

/** Undefined when the hook is switched off. */
export function createHookDelivery(house: HookHouse): DeliverByHook | undefined {
  const { sendEmail } = house.hooks
  if (!sendEmail) return undefined
  return async (mail) => {
    const user = await userOf(house, mail).catch((error) => {
      throw notAsked(error)
    })
    try {
      await sendEmail({ user, uuid: mail.id }, emailData(mail, house.config.AUTH_API_EXTERNAL_URL))
    } catch (error) {
      throw toTransportError(error)
    }
    return 'taken by the hook'
  }
}

/** The person as they are now; as far as the mail knows them when they are gone. */
async function userOf({ config, db, hooks }: HookHouse, { to, userId, variables }: HookMail) {
  const person = userId ? await findUser(db, userId) : undefined
  if (person) return toUser(person)
  const id = userId ?? crypto.randomUUID()
  const known = { email: to, user_metadata: variables.Data }
  return hooks.unsavedUser({ id, aud: config.AUTH_JWT_AUD, ...known })
}

/** Where the hook's word for a mail is not its kind. */
const actions: Partial<Record<MailKind, string>> = {
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

/** Where both addresses are asked, each token is named beside the hash of the other: so GoTrue has it, and receivers. */
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

/** The mail certainly did not go out. */
function notAsked(error: unknown): MailTransportError {
  return new MailTransportError('temporary', `the send email hook was not asked: ${String(error)}`)
}

function toTransportError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const reply = { code: error.status, text: error.message }
  return new MailTransportError(outcomeOf(error), 'the send email hook did not take it', reply)
}

/** A hook that was asked and has not said no may have sent the mail: it is not asked again by itself. */
function outcomeOf(error: ApiError): SendOutcome {
  if (!(error instanceof HookError)) return 'temporary'
  const { fault, status } = error
  if (fault === 'refused') return status < 500 ? 'permanent' : 'temporary'
  // What a function of the database had begun was undone.
  const isUndone = fault === 'silent' && status === 500
  const isHeard = (fault === 'silent' && !isUndone) || fault === 'unreadable'
  return isHeard ? 'ambiguous' : 'temporary'
}
