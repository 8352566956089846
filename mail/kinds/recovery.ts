import { linkKind } from '../kind.ts'

export const recovery = linkKind({
  envSuffix: 'RECOVERY',
  linkType: 'recovery',
})
