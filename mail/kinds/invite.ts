import { linkKind } from '../kind.ts'

export const invite = linkKind({
  envSuffix: 'INVITE',
  linkType: 'invite',
})
