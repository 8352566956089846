/** What defines a type of email, and the sample users of its previews. */
import { type TObject, type TProperties, Type } from '@sinclair/typebox'

import { type ConfirmationLink, confirmationUrl } from './confirmation-url.ts'

/** The variable with the URL of the email's button. */
export type ButtonVariable = 'ConfirmationURL' | 'EndSessionURL' | 'InvitationURL'

export interface EmailKindDefinition {
  /** The suffix of the type's settings: `AUTH_MAILER_SUBJECTS_<suffix>`. */
  envSuffix: string
  /** Contains a confirmation link with its code. */
  link: boolean
  /** The target of its button, if it has one. */
  button?: ButtonVariable | undefined
  /** The value of `$messageType` in AUTH_SMTP_HEADERS. */
  messageType: string
  /** The variables of its templates. Plain JSON, so that a queue can store them. */
  variables: TObject
  /** The variables of a sample email, for previews. */
  sample: (addresses: SampleAddresses) => Record<string, unknown>
}

export const commonVariables = {
  SiteURL: Type.String(),
  Email: Type.String(),
  /** The user's user_metadata, which is under the user's control. */
  Data: Type.Record(Type.String(), Type.Unknown()),
}

export const linkVariables = {
  ...commonVariables,
  ConfirmationURL: Type.String(),
  /** The one-time code. */
  Token: Type.String(),
  /** The token of the link, with its prefix if it has one. */
  TokenHash: Type.String(),
  RedirectTo: Type.String(),
}

interface LinkKindDefinition<Suffix> {
  envSuffix: Suffix
  /** The `type` of its link. */
  linkType: LinkType
}

/** An email with a link and its code, and no other variables. */
export function linkKind<const Suffix extends string>({
  linkType,
  ...facts
}: LinkKindDefinition<Suffix>) {
  return {
    ...facts,
    link: true,
    button: 'ConfirmationURL' as const,
    messageType: facts.envSuffix.toLowerCase(),
    variables: Type.Object(linkVariables),
    sample: (addresses: SampleAddresses) => linkSample(addresses, linkType),
  }
}

interface NotificationFacts<Event, Details, Sample> {
  /** Names the setting AUTH_MAILER_NOTIFICATIONS_<event>_ENABLED. */
  event: Event
  /** Its variables in addition to the common ones. */
  details: Details
  button?: ButtonVariable
  sample: Sample
}

/** A security notification about an account. */
export function notificationKind<
  const Event extends string,
  Details extends TProperties,
  Sample extends object,
>({ event, details, sample, ...facts }: NotificationFacts<Event, Details, Sample>) {
  const envSuffix = `${event}_NOTIFICATION` as const
  return {
    ...facts,
    event,
    envSuffix,
    link: false,
    messageType: envSuffix.toLowerCase(),
    variables: Type.Object({ ...commonVariables, ...details }),
    sample: (addresses: SampleAddresses) => ({ ...commonSample(addresses), ...sample }),
  }
}

export interface SampleAddresses {
  siteUrl: string
  /** The base URL of the links. */
  externalUrl: string
}

type LinkType = ConfirmationLink['type']

export const sampleCode = '402817'
export const sampleEmail = 'ada.lovelace@example.com'
export const sampleNewEmail = 'ada.king@example.org'
const sampleHash = 'pkce_5f1c8d0e9b7a4632c1d0f8e7a6b5948372615049382716f5e4d3c2b1'

export function commonSample({ siteUrl }: SampleAddresses) {
  return {
    SiteURL: siteUrl,
    Email: sampleEmail,
    Data: { name: 'Ada Lovelace', language: 'en' },
  }
}

export function linkSample(addresses: SampleAddresses, type: LinkType) {
  const { siteUrl, externalUrl } = addresses
  const redirectTo = `${siteUrl.replace(/\/+$/, '')}/welcome`
  const link = { base: externalUrl, urlPath: undefined, token: sampleHash, type, redirectTo }
  return {
    ...commonSample(addresses),
    ConfirmationURL: confirmationUrl(link),
    Token: sampleCode,
    TokenHash: sampleHash,
    RedirectTo: redirectTo,
  }
}
