/** A style is part of the screen that imports it. */
declare module "*.css";
