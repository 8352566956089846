/** What the server knows about a kind of mail: each has a file of its own in kinds/. */
import { type TObject, type TProperties, Type } from '@sinclair/typebox'

import { commonSample, type LinkType, linkSample, type SampleAddresses } from './sample.ts'

export interface MailKindFacts {
  /** Ends the names of the kind's settings: `AUTH_MAILER_SUBJECTS_<suffix>`. */
  envSuffix: string
  /** Used when no subject is configured; a template like any other subject. */
  subject: string
  /** Carries a confirmation link with its typed code. */
  link: boolean
  /** What `$messageType` in AUTH_SMTP_HEADERS becomes. */
  messageType: string
  /** What a template of this kind may name. Plain JSON, so that a queue can hold it. */
  variables: TObject
  wording: Wording
  /** The variables of a mail to made-up people, to be looked at. */
  sample: (addresses: SampleAddresses) => Record<string, unknown>
}

/** What the built-in mail says. Every sentence is a template; none may hold `<`, `>` or `&`, as HTML and text share them. */
export interface Wording {
  heading: string
  paragraphs: string[]
  /** Only where there is a link: the words on its button. */
  button?: string
  /** What the code is for, where there is one. */
  code?: string
  /** What to do when the person did not ask for this. */
  caution: string
}

export const commonVariables = {
  SiteURL: Type.String(),
  Email: Type.String(),
  /** The person's user_metadata. Anybody may have written it. */
  Data: Type.Record(Type.String(), Type.Unknown()),
}

export const linkVariables = {
  ...commonVariables,
  ConfirmationURL: Type.String(),
  /** The code to be typed. */
  Token: Type.String(),
  /** The token of the link, with its prefix if it has one. */
  TokenHash: Type.String(),
  RedirectTo: Type.String(),
}

interface LinkFacts<Suffix> {
  envSuffix: Suffix
  subject: string
  /** The `type` of its link. */
  linkType: LinkType
  wording: Wording
}

/** A mail with a link and its typed code, and nothing else of its own. */
export function linkKind<const Suffix extends string>({ linkType, ...facts }: LinkFacts<Suffix>) {
  return {
    ...facts,
    link: true,
    messageType: facts.envSuffix.toLowerCase(),
    variables: Type.Object(linkVariables),
    sample: (addresses: SampleAddresses) => linkSample(addresses, linkType),
  }
}

interface NotificationFacts<Event, Details, Sample> {
  /** What has happened: names the setting AUTH_MAILER_NOTIFICATIONS_<event>_ENABLED. */
  event: Event
  subject: string
  /** The variables it has beside the common ones. */
  details: Details
  wording: Wording
  sample: Sample
}

/** A mail that only tells what has happened to an account. */
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
