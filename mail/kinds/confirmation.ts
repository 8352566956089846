import { linkKind } from './definition.ts'

export const confirmation = linkKind({
  envSuffix: 'CONFIRMATION',
  linkType: 'signup',
})
