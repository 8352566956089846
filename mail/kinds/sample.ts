/** Sample users for previews. */
import { type ConfirmationLink, confirmationUrl } from './confirmation-url.ts'

export interface SampleAddresses {
  siteUrl: string
  /** The base URL of the links. */
  externalUrl: string
}

export type LinkType = ConfirmationLink['type']

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
