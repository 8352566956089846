/** The server's configuration, and the settings that owners change at run time. */
export { changeSettings, revertChange } from './change.ts'
export { describeProviders, readSettingChanges, readSettings, readVariables } from './read.ts'
