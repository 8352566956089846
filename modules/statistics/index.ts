/** Figures for the overview of the console. */
export { readStatistics } from './overview.ts'
