import { linkKind } from '../kind.ts'

export const confirmation = linkKind({
  envSuffix: 'CONFIRMATION',
  linkType: 'signup',
})
